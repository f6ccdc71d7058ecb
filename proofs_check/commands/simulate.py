"""`sinkproof simulate`: what one layer, or many, does to token cosines: theory's curve against a simulation."""

from __future__ import annotations

import json
from pathlib import Path

import click

from proofs_check.certificates import write_whole
from proofs_check.display import Steps, show_table


@click.command(epilog="Example: sinkproof simulate mix --value random:-0.3,0.5 --rho 0.2 -T 32 -d 256")
@click.argument("what", type=click.Choice(["mix", "depth", "histogram"]), default="mix")
@click.option("-T", "--num-tokens", type=int, help="Tokens.  [default: 64, or the attention file's]")
@click.option("-d", "--dim", type=int, help="Embedding dimension.  [default: 512, or the file's with V]")
@click.option("--rho", type=float, default=0.3, show_default=True,
              help="Squared share of the tokens' common direction, in [0, 1).")
@click.option("--value", default="random:0,0.25", show_default=True, metavar="V",
              help="random:TAU,PHI (fresh in each draw and layer), scaled:B (B·I), drift:D (the multiple of I with "
                   "drift D), structured:ALPHA,BETA (α uuᵀ + β(I − uuᵀ)), or an array file (d, d).")
@click.option("--norm", type=click.Choice(["rms", "layer"]), default="rms", show_default=True,
              help="The norm after the step.")
@click.option("--attention", default="uniform", show_default=True, metavar="A",
              help="For depth and histogram: uniform, diagonal, sink, causal, mix:T, banded:W, block:K, or an array "
                   "file (T, T).")
@click.option("--null-sink", is_flag=True, help="For depth: project token 0 out of what V sees, so that V x_0 = 0.")
@click.option("--t", "points", default="0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1", metavar="T,T,...",
              help="For mix: points of the path from diagonal (0) to uniform (1).  [default: 0 to 1 by 0.1]")
@click.option("--layers", type=int, default=24, show_default=True, help="For depth.")
@click.option("--pair", default="0,1", show_default=True, metavar="I,J", help="For histogram: the two tokens.")
@click.option("--draws", type=int, default=256, show_default=True,
              help="Independent draws of the tokens (and of a random V).")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Fixes every draw.")
@click.option("--confidence", type=float, default=0.99, show_default=True, help="Level of the intervals.")
@click.option("--memory", type=click.IntRange(1, 2**20), default=256, show_default=True, metavar="MIB",
              help="Cap for the arrays of one chunk of draws.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("sinkproof-out"),
              show_default=True,
              help="Where simulate-*.png, .csv and .json go.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def simulate(what: str, num_tokens: int | None, dim: int | None, rho: float, value: str, norm: str, attention: str,
             null_sink: bool, points: str, layers: int, pair: str, draws: int, seed: int, confidence: float,
             memory: int,
             out: Path, as_json: bool) -> int:
    """Simulate oversmoothing and draw it against theory.

    \b
    mix        the mean pair cosine along A_t = (1-t)I + t·11ᵀ/T, with t* marked (O1, O4)
    depth      the mean pair cosine over layers against the recursion (O8)
    histogram  the cosine of one pair over draws against its predicted law (O2)
    """
    from numerics.plots_oversmoothing import png
    from proofs_check import simulation as run

    for name, given, users in (("--null-sink", null_sink, ("depth",)),
                               ("--attention", attention != "uniform", ("depth", "histogram"))):
        if given and what not in users:
            raise click.UsageError(f"{name} has no meaning for '{what}'; use it with {' or '.join(users)}")
    path = run.numbers(points, "--t")
    chosen = run.numbers(pair, "--pair", 2)
    if any(place != int(place) for place in chosen):
        raise click.UsageError(f"expected two token numbers for --pair, got '{pair}'; count tokens from 0")
    if num_tokens is not None and num_tokens < 2:
        raise click.UsageError(f"expected at least two tokens, got {num_tokens}; a cosine needs a pair")
    if dim is not None and dim < 1:
        raise click.UsageError(f"expected a dimension of at least 1, got {dim}; embeddings need one")
    pattern = None if what == "mix" else run.read_attention(attention, num_tokens)
    read, size = run.read_value(value, dim)
    tokens = len(pattern) if pattern is not None else 64 if num_tokens is None else num_tokens
    settings = run.Settings(tokens, size, rho, read, norm, draws, seed, confidence, memory * 2**20)
    with Steps(len(path) if what == "mix" else 1, as_json) as steps:
        outcome = {
            "mix": lambda: run.simulate_mix(settings, path, steps.step),
            "depth": lambda: run.simulate_layers(settings, pattern, layers, null_sink, steps.step),
            "histogram": lambda: run.simulate_pair(settings, pattern, (int(chosen[0]), int(chosen[1])), steps.step),
        }[what]()
    document = {"schema": run.SCHEMA, "what": what,
                "settings": {"num_tokens": tokens, "dim": size, "rho": rho, "value": value, "norm": norm,
                             "draws": draws,
                             "seed": seed, "confidence": confidence,
                             "attention": "mix" if what == "mix" else attention},
                "results": list(outcome.results), **outcome.extra}
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    picture = png(outcome.figure)
    out.mkdir(parents=True, exist_ok=True)
    for suffix, content in (("csv", outcome.table().encode()), ("png", picture), ("json", text.encode())):
        write_whole(out / f"simulate-{what}.{suffix}", content)
    if as_json:
        print(text)
        return 0
    show_table(settings.title(), ("setting", "theory", "mean", "interval", "theory inside"),
               [(" ".join(f"{key}={value}" for key, value in row["setting"].items()), f"{row['theory']:.6f}",
                 f"{row['mean']:.6f}", f"{row['interval'][0]:.6f} .. {row['interval'][1]:.6f}",
                 "yes" if row["interval"][0] <= row["theory"] <= row["interval"][1] else "no")
                for row in document["results"]])
    if document.get("t_star") is not None:
        print(f"Largest at t* = {document['t_star']:.6g} (O4).")
    print(f"Note: {document['note']}")
    print(f"Picture, table and JSON: {out / f'simulate-{what}'}.png, .csv, .json")
    return 0
