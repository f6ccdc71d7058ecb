"""X1: without positions, t repeated tokens share the attention equally, 1/t each; so none of them is a sink."""

from fractions import Fraction

import numpy as np

from numerics.attention import logits, softmax_attention
from numerics.sink_metrics import importance
from proofs_check.claim import Claim, Hypothesis, Instance, Part


def prompt(tokens, w, z):
    return Instance({"tokens": tokens, "W": w, "z": z})


BIASED = prompt([[1], [1]], [[0]], [1, 2])  # one token twice, and yet two weights: a bias on the distance does that
SHARE = Part(
    name="equal shares",
    text="The last of t repeated tokens attends to each with 1/t, if a key's weight e^logit depends on the logit only.",
    variables={"tokens": "matrix: t d", "W": "matrix: d d", "z": "vector: t"},
    definitions={"logit": "[tokens[len(z) - 1] @ W @ token for token in tokens]", "attention": "z / sum(z)"},
    hypotheses=(
        Hypothesis("repeated", "one token, t times", "all(token == tokens[0] for token in tokens)",
                   prompt([[0], [1]], [[1]], [1, 2])),
        Hypothesis("no position", "equal logits, equal weights", "all(implies(logit[i] == logit[j], z[i] == z[j]) "
                   "for i in range(len(z)) for j in range(len(z)))", BIASED),
        Hypothesis("positive", "z_j > 0", "all(weight > 0 for weight in z)"),
    ),
    conclusions=("all(share == 1 / len(z) for share in attention)",),
    satisfiable=prompt([[1, 2], [1, 2]], [[1, 0], [3, -1]], [5, 5]),
    instances=[prompt([[n, -1]] * t, [[1, n], [2, Fraction(1, 3)]], [n] * t) for t in range(1, 13) for n in (1, 2, 3)],
    numeric=lambda v: -float(abs(softmax_attention(logits(v["tokens"], v["W"]))[-1] * len(v["z"]) - 1).max()),
)
SCORES = Part(
    name="no sink",
    text="From t = 10 on, each key's importance, the mean (1/(t - k + 1)) sum_{i >= k} 1/i it gets, is at most 3/10.",
    variables={"t": "integer"},
    definitions={"scores": "[sum(1 / i for i in range(k, t + 1)) / (t - k + 1) for k in range(1, t + 1)]"},
    hypotheses=(Hypothesis("ten tokens", "t >= 10", "t >= 10", Instance({"t": 9})),),
    conclusions=("all(score <= 3 / 10 for score in scores)",),
    satisfiable=Instance({"t": 10}), instances=[Instance({"t": t}) for t in range(10, 40)],
    numeric=lambda v: 0.3 - importance(np.tri(int(v["t"])) / np.arange(1, v["t"] + 1)[:, None]).max(),
)
CLAIM = Claim(
    id="X1", title="Repeated tokens have no sink", family="examples", parts=(SHARE, SCORES),
    statement="Without positions t repeated tokens get the attention 1/t each; from t = 10 on none has importance "
              "above 0.3.",
    source="Gu et al., When Attention Sink Emerges in Language Models, arXiv 2410.10781; our wording and proof",
    required_formal="PROVED ON",  # as for any claim that has no proof in Rocq
    variants=(
        SHARE.vary("bias on the distance", "drop hypothesis", "Also with ALiBi's bias.", BIASED, drop=("no position",)),
        SHARE.vary("own token not seen", "T for T-1", "The attention is 1/(t - 1).", prompt([[1], [1]], [[1]], [3, 3]),
                   conclusions=("all(share == 1 / (len(z) - 1) for share in attention)",)),
        SCORES.vary("no causal mask", "wrong mask", "Every key has importance 1/t.", Instance({"t": 10}),
                    conclusions=("all(score == 1 / t for score in scores)",)),
        SCORES.vary("nine tokens", "constant moved", "Nine tokens are enough.", Instance({"t": 9}),
                    hypotheses=(Hypothesis("nine tokens", "t >= 9", "t >= 9"),)),
    ),
)
