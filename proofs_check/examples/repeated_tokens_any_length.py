"""X2: the inductions behind X1, for every number of tokens; what `numerics` cannot check and polynomial arithmetic can.

X1 is checked on lists of prompts.  Here a sum of t equal weights is a number S with S = t z, a harmonic sum a number
H, and the step from t to t + 1 is an identity or an inequality between rational functions of t, S, z, H.
"""

from __future__ import annotations

from fractions import Fraction

from proofs_check.claim import Claim, Instance
from proofs_check.engines.derivations import symbolic_part
from theory.statements import Derivation, Lemma, Parameter

TENTH = "1" + "".join(f" + 1/{i}" for i in range(2, 11))  # the tenth harmonic number, 7381/2520


def one_more_weight() -> Derivation:
    """If t weights z sum to S = t z, then t + 1 of them sum to (t + 1) z, and each key's share is 1/(t + 1)."""
    return Derivation(
        parameters=(Parameter("t", "1"), Parameter("z", "0", open_min=True), Parameter("S", "0", open_min=True)),
        definitions={"longer": "S + z"}, assumptions={"so far": "S == t * z"},
        lemmas=(Lemma("longer == (t + 1) * z", "identity", multipliers={"so far": "1"}),
                Lemma("z / longer == 1 / (t + 1)", "identity",
                      multipliers={"so far": "-1 / (longer * (t + 1))"})),
        conclusions=("longer == (t + 1) * z", "z / longer == 1 / (t + 1)"))


def one_more_token() -> Derivation:
    """H_t <= 3t/10 at t = 10, and from t to t + 1 the left side grows by 1/(t + 1) <= 1/11, the right by 3/10."""
    return Derivation(
        parameters=(Parameter("t", "10"), Parameter("H", "1")), definitions={"longer": "H + 1/(t + 1)"},
        assumptions={"so far": "3*t/10 - H >= 0"},
        lemmas=(Lemma(f"3*10/10 - ({TENTH}) >= 0", "orthant"),
                Lemma("3/10 - 1/(t + 1) > 0", "orthant"),
                Lemma("3*(t + 1)/10 - longer >= 0", "terms",
                      (("1", ("3*t/10 - H",)), ("1", ("3/10 - 1/(t + 1)",))))),
        conclusions=(f"3*10/10 - ({TENTH}) >= 0", "3*(t + 1)/10 - longer >= 0"))


def first_is_largest() -> Derivation:
    """The first n of n + m falling terms sum to P, the others to R: P/n >= R/m, so the mean of all is at least R/m."""
    positive = [Parameter(name, "0", open_min=True) for name in "PR"]
    return Derivation(
        parameters=(Parameter("n", "1"), Parameter("m", "1"), *positive), definitions={},
        assumptions={"falling": "m * P - n * R >= 0"},
        lemmas=(Lemma("(P + R) / (n + m) - R / m >= 0", "terms", (("1", ("m * P - n * R", "1 / (m * (n + m))")),)),),
        conclusions=("(P + R) / (n + m) - R / m >= 0",))


SHARE = symbolic_part(
    one_more_weight, "share, step", "If t equal weights sum to t z, then with one more each key's share is 1/(t + 1).",
    satisfiable=Instance({"t": 1, "z": 2, "S": 2}), counterexamples={"so far": Instance({"t": 1, "z": 1, "S": 2})})
SCORE = symbolic_part(
    one_more_token, "score, start and step",
    "H_10 <= 3, and H_t <= 3t/10 with t >= 10 gives H_{t+1} <= 3(t + 1)/10: the first key's importance H_t/t.",
    satisfiable=Instance({"t": 10, "H": 2}), counterexamples={"so far": Instance({"t": 10, "H": 4})})
FIRST = symbolic_part(
    first_is_largest, "no other key",
    "The importance of key n + 1 is at most that of key 1: it averages the smaller of the terms 1/i.",
    satisfiable=Instance({"n": 1, "m": 1, "P": 1, "R": Fraction(1, 2)}),
    counterexamples={"falling": Instance({"n": 1, "m": 1, "P": 1, "R": 2})})

CLAIM = Claim(
    id="X2", title="Repeated tokens have no sink, at any length", family="examples", parts=(SHARE, SCORE, FIRST),
    statement="With one more repeated token the shares 1/t become 1/(t + 1), and from t = 10 on the importance of "
              "key 1, the largest, stays at most 3/10.",
    source="Gu et al., When Attention Sink Emerges in Language Models, arXiv 2410.10781; our wording and proof",
    scope_notes=("Proved are the steps of two inductions, for every t; that the steps make the statement is said in "
                 "words, and that 1/i falls, so that every later key's score is at most the first one's, is the "
                 "hypothesis 'falling'.",),
    required="PROVED",
    variants=(
        SHARE.vary("the new token is not counted", "T for T-1", "With one more token each share is still 1/t.",
                   Instance({"t": 1, "z": 1, "S": 1}), conclusions=("z / longer == 1 / t",), derivation=None),
        SCORE.vary("for any t", "drop hypothesis", "The bound holds for t + 1 whatever H_t was.",
                   Instance({"t": 10, "H": 4}), drop=("so far",), conclusions=("3*(t + 1)/10 - longer >= 0",),
                   derivation=None),
        SCORE.vary("a threshold of 0.29", "constant moved", "H_10 <= 2.9.", Instance({"t": 10, "H": 2}),
                   conclusions=(f"29*10/100 - ({TENTH}) >= 0",), derivation=None),
        FIRST.vary("later keys gain", "flip inequality", "The importance of a later key is at least that of the first.",
                   Instance({"n": 1, "m": 1, "P": 2, "R": 1}), conclusions=("R / m - (P + R) / (n + m) >= 0",),
                   derivation=None),
    ),
)
