"""`sinkproof audit`: does a checkpoint satisfy the theory's hypotheses, and what do its patterns cost?"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from proofs_check.display import Steps, show_table
from proofs_check.exits import EXIT_BROKEN


@click.command(
    epilog="Example: sinkproof audit smollm2        Your own: sinkproof audit path/to/checkpoint --text essay.txt"
)
@click.argument("model", metavar="MODEL")
@click.option("--gguf", metavar="NAME", help="The GGUF file to read, when MODEL is a directory that holds several.")
@click.option(
    "--text",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="UTF-8 text, paragraphs separated by empty lines.  [default: the packaged paragraphs]",
)
@click.option(
    "--texts",
    type=click.IntRange(1, 1000),
    default=5,
    show_default=True,
    help="How many paragraphs are measured; all of them fill the pools of the half-spaces.",
)
@click.option(
    "--lengths",
    metavar="T,T,...",
    help="Cut the joined text at these lengths too; 'none' for none.  "
    "[default: 16, 64, 256, 512, as far as context and text allow]",
)
@click.option(
    "--bos", type=click.IntRange(0), metavar="ID", help="Token id of the sink token.  [default: the tokenizer's BOS]"
)
@click.option(
    "--t",
    "mixes",
    default="0.25,0.5,0.75,1",
    show_default=True,
    metavar="T,T,...",
    help="How far attention is mixed toward each target, one layer at a time.",
)
@click.option(
    "--network",
    default="0.5,1",
    show_default=True,
    metavar="T,T,...",
    help="The same for the runs through the rest of the network; 'none' for none.",
)
@click.option(
    "--tolerance",
    type=float,
    default=1e-2,
    show_default=True,
    help="Relative gap at which the diagonal's cost is done.",
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    default=800,
    show_default=True,
    help="Most iterations for the diagonal's cost; its bounds hold wherever it stops.",
)
@click.option(
    "--agreement",
    type=float,
    default=1e-5,
    show_default=True,
    help="Largest relative error of the extraction check; a larger one stops the audit.",
)
@click.option("--head", "heads", multiple=True, metavar="L:H", help="A page for this head too (repeatable).")
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Fixes shuffles and controls."
)
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Processes that measure layers.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("sinkproof-out"),
    show_default=True,
    help="Where audit.json, .parquet, .md, the pictures and certificates go; the same folder resumes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def audit(
    model: str,
    gguf: str | None,
    text: Path | None,
    texts: int,
    lengths: str | None,
    bos: int | None,
    mixes: str,
    network: str,
    tolerance: float,
    iterations: int,
    agreement: float,
    heads: tuple[str, ...],
    seed: int,
    jobs: int,
    out: Path,
    as_json: bool,
) -> int:
    """Measure hypotheses, drifts and costs on MODEL: a directory (safetensors, or GGUF), a .gguf file, or 'smollm2'
    after `make models`.

    \b
    GPT-2, Llama, Mistral and Gemma architectures; never the network. Attention and output are rebuilt from what was
    extracted and compared with the model's own before anything is measured. Every finished layer is a file, so an
    interrupted audit goes on where it stopped.
    A tokenizer without BOS is audited without it (the first token is then the sink candidate); --bos names one.
    Exit 3 when torch or transformers is missing, 4 when the extraction check fails.
    """
    from numerics.checkpoint import ExtractionError
    from proofs_check.audit.run import Options, audit as run_audit

    options = Options(
        texts,
        read_numbers(lengths, "--lengths", int),
        bos,
        read_shares(mixes, "--t"),
        read_shares(network, "--network"),
        read_open(tolerance, "--tolerance"),
        iterations,
        read_open(agreement, "--agreement"),
        seed,
    )
    wanted = [read_head(head) for head in heads]
    try:
        with Steps(None, as_json) as steps:
            document = run_audit(model, text, options, out, jobs, gguf, wanted, steps.step)
    except ExtractionError as disagreement:
        print(f"sinkproof: {disagreement}", file=sys.stderr)
        return EXIT_BROKEN
    if as_json:
        print(json.dumps(document, indent=1, ensure_ascii=False))
        return 0
    about, extraction = document["model"], document["extraction"]
    show_table(
        f"{about['name']}: {about['layers']} layers, {about['heads']} heads",
        ("family", "holds", "of", "undecided", "claims", "hypothesis"),
        [
            (
                item["family"],
                str(item["holds"]),
                f"{item['of']} {item['unit']}",
                str(item["undecided"] or ""),
                " ".join(item["claims"]),
                item["hypothesis"],
            )
            for item in document["meaning"]
        ],
    )
    print(
        f"Extraction check: attention to {extraction['worst_attention_error']:.1e}, "
        f"output to {extraction['worst_output_error']:.1e}."
    )
    for note in document["scope_notes"]:
        print(f"Scope: {note}")
    print(
        f"Page and pictures: {out / 'audit.md'}; numbers: {out / 'audit.json'}, {out / 'audit.parquet'}; "
        f"replay the half-spaces with: sinkproof check {out}"
    )
    return 0


def read_numbers(text: str | None, name: str, kind: type) -> tuple | None:
    """Numbers separated by commas; None for an option that was not given, an empty tuple for 'none'."""
    if text is None:
        return None
    if text.strip() == "none":
        return ()
    try:
        return tuple(kind(item) for item in text.split(","))
    except ValueError:
        raise click.UsageError(
            f"expected numbers separated by commas for {name}, got '{text}'; for example 16,64"
        ) from None


def read_shares(text: str, name: str) -> tuple[float, ...]:
    shares = tuple(sorted(set(read_numbers(text, name, float)) | ({1.0} if name == "--t" else set())))
    if not all(0 < share <= 1 for share in shares):
        raise click.UsageError(
            f"expected numbers above 0 and at most 1 for {name}, got '{text}'; 1 is the target itself"
        )
    return shares


def read_open(value: float, name: str) -> float:
    if not 0 < value < 1:
        raise click.UsageError(
            f"expected a number between 0 and 1 for {name}, got {value:g}; leave it out for the default"
        )
    return value


def read_head(text: str) -> tuple[int, int]:
    layer, _, head = text.partition(":")
    if not (layer.isdigit() and head.isdigit()):
        raise click.UsageError(f"expected a layer and a head as L:H, got '{text}'; for example 15:3")
    return int(layer), int(head)
