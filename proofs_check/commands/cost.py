"""`sinkproof cost`: the cheapest W for a pattern on the user's embeddings, with certified bounds and a picture."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

import click

from proofs_check.certificates import write_whole
from proofs_check.display import Steps, show_table
from proofs_check.inputs import BadInput, read_tokens

NAMED = ("nuclear", "frobenius", "spectral")


def norm_name(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    for text in given:
        if text in NAMED:
            continue
        try:
            value = float(text)
        except ValueError:
            raise click.BadParameter(f"expected nuclear, frobenius, spectral or a number p >= 1, got '{text}'; "
                                     "choose one of these") from None
        if not 1 <= value < math.inf:
            raise click.BadParameter(f"expected p >= 1, got {text}; below 1 it is no norm, and for infinity say "
                                     "spectral")
    return tuple(dict.fromkeys(given))


@click.command(epilog="Example: sinkproof cost --tokens numerics/data/smollm2_dev.npz:x_15 --sink 0 --pattern sink "
                      "--norm nuclear")
@click.option("--tokens", required=True, metavar="FILE[:KEY]",
              help="Embeddings as they enter attention, one row per token.")
@click.option("--sink", metavar="KEY|ROW",
              help="The sink's embedding: a row of the tokens, or another array of the file.")
@click.option("--pattern", type=click.Choice(["sink", "diagonal", "both"]), default="both", show_default=True)
@click.option("--norm", "norms", multiple=True, default=("nuclear",), callback=norm_name,
              metavar="nuclear|frobenius|spectral|P",
              help="Schatten norm; repeat for several.  [default: nuclear]")
@click.option("--margin", type=float, help="Logit margin m > 0 over every competitor.  [default: 1]")
@click.option("--mass", type=float, help="Attention mass, at least 1/2 and below 1, instead of a margin.")
@click.option("--causal", is_flag=True, help="Competitors are the keys up to the query's own, the sink first.")
@click.option("--tolerance", type=click.FloatRange(1e-9, 0.5), default=1e-4, show_default=True,
              help="Relative gap to stop at.")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), default=120.0, show_default=True,
              help="Seconds of solving per pattern and norm; the bounds reached then are valid and are returned.")
@click.option("--deduplicate", is_flag=True, help="Keep one of each repeated row instead of refusing them.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("sinkproof-out"),
              show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def cost(tokens: str, sink: str | None, pattern: str, norms: tuple[str, ...], margin: float | None, mass: float | None,
         causal: bool, tolerance: float, time_limit: float, deduplicate: bool, out: Path, as_json: bool) -> int:
    """Find the cheapest W_QK for a sink or a diagonal on your embeddings, with two-sided certified bounds on its norm.

    An impossible pattern is proved impossible (Gordan weights).  Exit 1 when some bound stayed open or unreplayed.
    """
    from proofs_check.cost import SCOPE_NOTES, Request, costs

    if margin is not None and mass is not None:
        raise click.UsageError("expected --margin or --mass, got both; choose one form")
    if mass is None:
        margin = 1.0 if margin is None else margin
        if not (margin > 0 and math.isfinite(margin)):
            raise BadInput(f"expected a finite margin > 0, got {margin:g}; a margin is a strict preference")
    elif not 0.5 <= mass < 1:
        raise BadInput(f"expected a mass of at least 1/2 and below 1, got {mass:g}; below 1/2 C2 is false in general, "
                       "and softmax never reaches 1")
    given = read_tokens(tokens, sink, deduplicate)
    patterns = ("sink", "diagonal") if pattern == "both" else (pattern,)
    if pattern == "both" and given.sink is None:
        raise BadInput("expected a sink for the sink pattern, got none; name it with --sink, or ask for --pattern "
                       "diagonal")
    requests = [Request(kind, norm, margin, mass, causal, tolerance, time_limit) for kind in patterns for norm in norms]
    with Steps(len(requests) + 1, as_json) as steps:
        found = costs(given, requests, out, steps.step, time.monotonic)
    pictures = _pictures(found, given, out)
    document = {"schema": "sinkproof/cost/1", "tokens": tokens, "sink": sink, "count": len(given.content),
                "dimension": int(given.content.shape[1]), "causal": causal, "results": [item.row() for item in found],
                "ratios": _ratios(found), "pictures": pictures, "scope_notes": list(SCOPE_NOTES)}
    text = json.dumps(_finite(document), indent=1, ensure_ascii=False)
    write_whole(out / "cost.json", text.encode())
    if as_json:
        print(text)
    else:
        show_table(f"min ‖W‖ on {document['count']} tokens of dimension {document['dimension']}",
                   ("pattern", "norm", "form", "lower", "upper", "gap", "rank", "status", "grade", "seconds"),
                   [(item.pattern, item.norm, item.form, _bound(item, item.lower), _bound(item, item.upper), _gap(item),
                     str(item.rank),
                     item.status, item.grade, f"{item.seconds:.1f}") for item in found])
        for item in found:
            if item.reason:
                print(f"{item.pattern}, {item.norm} norm: {item.reason}")
        for ratio in document["ratios"]:
            print(f"diagonal/sink in the {ratio['norm']} norm: {ratio['lower']:.6g} .. {ratio['upper']:.6g}")
        for note in SCOPE_NOTES:
            print(f"Scope: {note}")
        print(f"Certificates in {out / 'certificates' / 'cost'}, pictures: {', '.join(pictures) or 'none'}; "
              f"replay with: sinkproof check {out}")
    return 0 if all(item.status != "undecided" and item.certificate for item in found) else 1


def _ratios(found: list) -> list[dict]:
    """diagonal/sink for each norm that has both, from the certified ends."""
    table = {(item.pattern, item.norm): item for item in found if item.status == "bounded" and item.upper}
    return [{"norm": norm, "lower": table["diagonal", norm].lower / table["sink", norm].upper,
             "upper": table["diagonal", norm].upper / table["sink", norm].lower}
            for (pattern, norm) in table if pattern == "sink" and ("diagonal", norm) in table
            and table["sink", norm].lower > 0]


def _pictures(found: list, given, out: Path) -> list[str]:
    from proofs_check.pictures import cost_picture

    for pattern in ("sink", "diagonal"):  # an earlier run's would pass for this one's
        for stale in out.glob(f"cost-{pattern}-*.png"):
            stale.unlink()
    names = []
    for item in found:
        if item.w_qk is not None and len(given.content) <= 512:
            name = f"cost-{item.pattern}-{item.norm}.png"
            title = (f"{Path(given.source).name}: {item.pattern}, {item.norm} norm, {item.form}: "
                     f"{_bound(item, item.lower)} to {_bound(item, item.upper)}")
            cost_picture(out / name, title, given, item.w_qk, item.pattern == "sink")
            names.append(name)
    return names


def _bound(item, value: float | None) -> str:
    """A bound for the table; an infinite one is "impossible" where a certificate proves that no W exists."""
    if value is None:
        return ""
    if math.isinf(value):
        return "impossible" if item.status == "infeasible" and item.certificate else "unknown"
    return f"{value:.6g}"


def _gap(item) -> str:
    from numerics.two_sided import relative_gap
    return f"{relative_gap(item.lower, item.upper):.1e}" if item.status == "bounded" and item.upper else ""


def _finite(node: object) -> object:
    """JSON has no infinity: the bounds of an impossible pattern, and an upper bound not found, are 'infinity'."""
    if isinstance(node, dict):
        return {key: _finite(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_finite(item) for item in node]
    return "infinity" if isinstance(node, float) and math.isinf(node) else node
