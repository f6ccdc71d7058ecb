"""`sinkproof audit` on tiny random checkpoints of every architecture: end to end, resumed, one sentence for bad input.

More than 500 lines, because all cases share a few audited models, which are what takes time.
"""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import checkpoint_models
import numpy as np
import pytest

from numerics.checkpoint import MissingModels
from numerics.hull import min_norm_point
from numerics.moments import mean_off_diagonal, moment_cosines
from proofs_check import cli
from proofs_check.audit import layer as audit_layer
from proofs_check.audit import asides, network, notes, page, run, summary
from proofs_check.audit.meaning import meaning
from proofs_check.audit.page import meaning_table
from proofs_check.audit.text import WITH, WITHOUT, plan, read_paragraphs
from proofs_check.claims import all_claims
from proofs_check.inputs import BadInput
from proofs_check.kernel.command import main as check

# The first paragraph is the one that is measured; the last only fills the pools.
TEXT = "\n\n".join(
    ["By night the lake was lower.", "The fence by the river stood in\nthe water like a comb.", checkpoint_models.TEXT]
)
QUICK = tuple("--texts 1 --lengths none --t 1 --network none --iterations 60 --tolerance 0.2 --jobs 1".split())
DRAWN = "llama"  # the family whose pictures are drawn
Run = Callable[..., tuple[int, str, str]]


def options(**changes: object) -> run.Options:
    """The least that reaches every stage."""
    least = {"texts": 1, "lengths": (), "mixes": (1.0,), "network": (1.0,), "tolerance": 0.2, "iterations": 60}
    return run.Options(**(least | changes))


@pytest.fixture
def sinkproof(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> Run:
    """The command line in this process: exit code, output, error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sinkproof", *map(str, arguments)])
        code = cli.main()
        return code, *capsys.readouterr()

    return call


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "essay.txt"
    path.write_text(TEXT)
    return path


def refused(result: tuple[int, str, str], *words: str, code: int = 2) -> None:
    found, output, error = result
    sentence = error.strip().splitlines()[-1]
    assert found == code and output == "" and "Traceback" not in error
    assert all(word in sentence for word in words), sentence


@pytest.fixture(scope="module")
def audited(
    tiny_checkpoint, text: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[Path, dict]]:
    """An audit of each family, run once."""
    found: dict[str, tuple[Path, dict]] = {}

    def audit(family: str) -> tuple[Path, dict]:
        if family not in found:
            out = tmp_path_factory.mktemp(family)
            whole = family == DRAWN
            with pytest.MonkeyPatch.context() as patch:
                if not whole:  # pictures take most of a tiny audit's time
                    patch.setattr(page, "PICTURES", {})
                document = run.audit(
                    str(tiny_checkpoint(family)),
                    text,
                    options(lengths=(8,) if whole else ()),
                    out,
                    heads=[(2, 5)] if whole else [],
                )
            found[family] = out, document
        return found[family]

    return audit


@pytest.mark.parametrize("family", checkpoint_models.FAMILIES)
def test_every_architecture_is_audited_from_end_to_end(audited, family):
    out, document = audited(family)
    assert document["schema"] == "sinkproof/audit/1" and document["model"]["family"] == family
    extraction = document["extraction"]
    assert extraction["agrees"] and max(extraction["worst_attention_error"], extraction["worst_output_error"]) <= 1e-5
    assert [layer["layer"] for layer in document["layers"]] == [0, 1, 2]
    assert all(len(layer["heads"]) == 6 for layer in document["layers"])
    names = {path.name for path in out.iterdir() if path.is_file()}
    drawn = {"audit-heads.png", "audit-layers.png", "audit-bos.png", "audit-head-2-5.md", "audit-head-2-5.png"}
    assert names == {"audit.json", "audit.parquet", "audit.csv", "audit.md"} | (drawn if family == DRAWN else set())
    assert json.loads((out / "audit.json").read_text()) == json.loads(json.dumps(document))
    assert not list(out.rglob("extracted")) and not list(out.rglob(".writing-*"))


@pytest.mark.parametrize("family", ["gpt2", "gemma2"])
def test_certificates_of_the_half_spaces_replay_in_the_kernel(audited, family):
    out, document = audited(family)
    assert check([str(out)]) == 0
    answers = [layer["half_space"]["queries"] for layer in document["layers"]]
    assert all(item["grade"] in ("exact", "enclosed") and (out / item["certificate"]).is_file() for item in answers)


def test_what_the_records_say_is_what_the_model_does(audited, tiny_checkpoint, text):
    """A second route from the checkpoint itself: cosines, scores and a half-space's distance recomputed here."""
    from numerics.checkpoint import open_checkpoint

    _, document = audited("llama")
    opened, kept = open_checkpoint(tiny_checkpoint("llama")), []
    paragraphs = read_paragraphs(text).texts
    opened.run([opened.bos_id, *opened.encode(paragraphs[0])], kept.append)
    for record, layer in zip(kept, document["layers"], strict=True):
        units = record.residual / np.linalg.norm(record.residual, axis=1, keepdims=True)
        assert layer["tokens"][WITH]["plain"]["mean"] == pytest.approx((units[1:] @ units[0]).mean(), abs=1e-6)
        for head in layer["heads"]:
            mass = record.attention[head["head"], 1:, 0].mean()
            assert head["scores"][WITH]["mass_without_row_0"]["mean"] == pytest.approx(mass, abs=1e-6)
    pooled: list[np.ndarray] = []
    for paragraph in paragraphs:
        opened.run([opened.bos_id, *opened.encode(paragraph)], lambda item: pooled.append(item.inputs[1:]), layers=[2])
    space = document["layers"][2]["half_space"]
    rows = np.unique(np.concatenate(pooled).astype(np.float32), axis=0)
    distance = min_norm_point(rows)
    assert (space["distinct"], space["count"]) == (len(rows), sum(map(len, pooled)))
    assert space["queries"]["holds"] is (distance.status == "separated")
    if space["queries"]["holds"]:
        assert space["queries"]["margin_lower"] <= distance.distance_upper * (1 + 1e-9)


def test_replaced_attention_is_measured_by_a_run_of_the_whole_model(audited, tiny_checkpoint, text):
    from numerics.checkpoint import open_checkpoint

    _, document = audited("mistral")
    opened, kept = open_checkpoint(tiny_checkpoint("mistral")), []
    ids = [opened.bos_id, *opened.encode(read_paragraphs(text).texts[0])]
    final = opened.run(ids, kept.append)
    content = final[1:]
    assert document["network"]["final"] == pytest.approx(
        mean_off_diagonal(moment_cosines(content @ content.T)), abs=1e-9
    )
    record = kept[1]
    uniform = np.broadcast_to(record.visible / record.visible.sum(axis=1, keepdims=True), record.attention.shape)
    moved = opened.run_with(ids, 1, uniform, lambda later: None)[1:]
    point = next(item for item in document["network"]["layers"][1]["points"] if item["target"] == "uniform")
    assert point["final"] == pytest.approx(mean_off_diagonal(moment_cosines(moved @ moved.T)), abs=1e-5)
    assert abs(point["final"] - document["network"]["final"]) > 1e-3
    assert network.content_cosine(final) == document["network"]["final"]


def test_masks_query_biases_rope_and_caps_refuse_the_bound_and_say_why(audited):
    for family, word in (
        ("gpt2", "query bias"),
        ("llama", "RoPE"),
        ("gemma2", "soft-capped"),
        ("gemma3", "not bilinear"),
    ):
        heads = [head for layer in audited(family)[1]["layers"] for head in layer["heads"]]
        assert all(head["bound_applies"] is False and word in head["bound_reason"] for head in heads)
        assert all("causal mask" in head["bound_reason"] for head in heads)
        counted = next(item for item in audited(family)[1]["meaning"] if "lower bound" in item["hypothesis"])
        assert (counted["holds"], counted["of"]) == (0, 18)


def test_a_norm_on_the_output_leaves_os_rows_undecided(audited):
    rows = {item["hypothesis"]: item for item in audited("gemma3")[1]["meaning"]}
    assert all(rows[name]["undecided"] == rows[name]["of"] > 0 for name in rows if rows[name]["family"] == "O")
    llama = [item for item in audited("llama")[1]["meaning"] if item["family"] == "O"]
    assert len(llama) >= 8 and all(item["undecided"] == 0 for item in llama)


def test_every_claim_that_is_said_to_apply_exists_and_counts_add_up(audited):
    known = {claim.id for claim in all_claims()}
    _, document = audited("llama")
    found = meaning(document)
    assert {name for item in found for name in item.claims} <= known
    assert {item.family for item in found} == {"G", "E", "O", "C", "P"}
    assert all(0 <= item.holds + item.undecided <= item.of and item.of in (3, 18) for item in found)
    assert len(meaning_table(document)[1]) == len(found)
    direct = sum(
        head["drift"]["stream_measured"]["drift"] > 0 for layer in document["layers"] for head in layer["heads"]
    )
    assert next(item.holds for item in found if item.hypothesis.startswith("D > 0 (the head")) == direct


def test_a_claim_is_named_only_where_all_that_is_measured_of_it_holds(audited):
    document = json.loads(json.dumps(audited("llama")[1]))
    rows = {item.hypothesis: item for item in meaning(document)}
    named = {name: {item.hypothesis for item in rows.values() if name in item.claims} for name in ("E2", "G1", "G6")}
    assert named["E2"] == {"v_s = 0"} and len(named["G1"]) == len(named["G6"]) == 1
    assert not {"O1m", "O3", "O4", "O5", "O7"} & {name for item in rows.values() for name in item.claims}
    content = document["text"]["runs"][0]["tokens"] - 1
    assert any(f"T = {content} content tokens" in item.note for item in rows.values())

    def count(start: str) -> int:
        return next(item.holds for item in meaning(document) if item.hypothesis.startswith(start))

    for layer in document["layers"]:
        layer["tokens"][WITH] |= {"gain": {"mean": -0.2, "least": -0.3, "greatest": -0.1}, "sphere": 0.0}
        layer["half_space"] |= {name: layer["half_space"][name] | {"holds": True} for name in ("queries", "keys")}
        for head in layer["heads"]:
            head["values"][WITH]["rank"] = 2
    assert count("the same on the measured texts") == count("a rotary plane") == 3 and count("rank(CV)") == 18
    document["layers"][0]["tokens"][WITH]["gain"]["greatest"] = 0.0
    document["layers"][1]["norm_bias"] = True
    document["layers"][2]["half_space"]["keys"]["holds"] = False
    document["layers"][2]["norm"] = "layer"
    assert count("the same on the measured texts") == 1 and count("a rotary plane") == 2 and count("rank(CV)") == 12


def test_the_table_of_heads_has_a_typed_row_for_each(audited):
    from pyarrow import parquet

    out, document = audited("llama")
    table = parquet.read_table(out / "audit.parquet").to_pydict()
    assert len(table["layer"]) == 18 and table["head"][7] == 1 and table["layer"][7] == 1
    assert table["drift_stream_measured"][7] == document["layers"][1]["heads"][1]["drift"]["stream_measured"]["drift"]
    assert table["bound_applies"] == [False] * 18


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pictures: tests about something else need not wait for them."""
    monkeypatch.setattr(page, "PICTURES", {})


def test_an_interrupted_audit_goes_on_and_ends_with_the_same_document(
    audited, tiny_checkpoint, text, tmp_path, monkeypatch, undrawn
):
    real, measured = run.measure_layer, []

    def dying(task):
        if len(measured) == 1:
            raise KeyboardInterrupt
        measured.append(task.layer)
        return real(task)

    monkeypatch.setattr(run, "measure_layer", dying)
    with pytest.raises(KeyboardInterrupt):
        run.audit(str(tiny_checkpoint("gemma")), text, options(), tmp_path)
    assert measured == [0] and not (tmp_path / "audit.json").exists()
    monkeypatch.setattr(run, "measure_layer", lambda task: (measured.append(task.layer), real(task))[1])
    document = run.audit(str(tiny_checkpoint("gemma")), text, options(), tmp_path)
    assert measured == [0, 1, 2]
    assert document == audited("gemma")[1]
    again = run.audit(str(tiny_checkpoint("gemma")), text, options(), tmp_path)
    assert measured == [0, 1, 2] and again == document


def test_other_text_or_settings_are_measured_anew(tiny_checkpoint, text, tmp_path):
    digest, paragraphs = run.file_digest(tiny_checkpoint("llama")), read_paragraphs(text)
    keys = {
        run._key(digest, paragraphs, run.Options()),
        run._key(digest, read_paragraphs(None), run.Options()),
        run._key(digest, paragraphs, run.Options(seed=1)),
        run._key("other weights", paragraphs, run.Options()),
    }
    assert len(keys) == 4 and run._key(digest, paragraphs, run.Options()) in keys


def test_a_layer_measured_elsewhere_is_the_same_as_here(audited, tiny_checkpoint, text, tmp_path, undrawn):
    """Two worker processes give what one process gives."""
    document = run.audit(str(tiny_checkpoint("gpt2")), text, options(network=()), tmp_path, jobs=2)
    here = audited("gpt2")[1]
    assert document["network"] is None
    assert document["layers"] == here["layers"]


def test_the_command_prints_what_holds_and_where_the_page_is(sinkproof, tiny_checkpoint, text, tmp_path, undrawn):
    code, output, error = sinkproof(
        "audit", tiny_checkpoint("gpt2"), "--text", text, *QUICK, "--head", "0:1", "--out", tmp_path
    )
    assert code == 0, error
    assert "G1 G2 C1" in output and "audit.md" in output and "Measured, not proved" in output
    assert "measured layer 2" in error and (tmp_path / "audit-head-0-1.md").is_file()
    code, output, _ = sinkproof("audit", tiny_checkpoint("gpt2"), "--text", text, *QUICK, "--out", tmp_path, "--json")
    assert code == 0 and json.loads(output)["model"]["name"] == "gpt2"


def test_a_tokenizer_without_bos_is_audited_without_it_and_bos_can_be_named(tiny_checkpoint, text, tmp_path, undrawn):
    silent = checkpoint_models.save("llama", tmp_path / "silent", bos=False)
    document = run.audit(str(silent), text, options(network=()), tmp_path / "out")
    assert document["model"]["bos"] is None and WITH not in document["layers"][0]["tokens"]
    assert "keys" not in document["layers"][0]["half_space"]
    named = run.audit(str(silent), text, options(network=(), bos=5), tmp_path / "named")
    assert named["model"]["bos"]["id"] == 5 and WITH in named["layers"][0]["tokens"]


def test_sequences_of_a_plan_are_what_they_are_called(text):
    paragraphs = read_paragraphs(text)
    assert paragraphs.texts[1] == "The fence by the river stood in the water like a comb."
    words = {paragraph: list(range(10 * number, 10 * number + 6)) for number, paragraph in enumerate(paragraphs.texts)}
    found = {item.name: item for item in plan(paragraphs, words.__getitem__, 99, 64, measured=2, lengths=(8,), seed=0)}
    assert found["with-1"].ids == (99, *range(10, 16)) and found["without-1"].ids == tuple(range(10, 16))
    assert sorted(found["shuffled-0"].ids[1:]) == list(range(6)) and found["shuffled-0"].ids[1:] != tuple(range(6))
    assert found["length-8"].ids == (99, *range(6), 10) and found["length-8-without"].ids == (*range(6), 10, 11)
    assert [item.name for item in found.values() if item.pooled and not item.measured] == ["with-2", "without-2"]
    alone = plan(paragraphs, words.__getitem__, None, 64, measured=1, lengths=(), seed=0)
    assert {item.condition for item in alone} == {WITHOUT, f"{WITHOUT}, content shuffled"} and not any(
        item.bos for item in alone
    )


@pytest.mark.parametrize(
    ("lengths", "context", "sentence"),
    [
        ((3,), 64, "at least 4 tokens"),
        ((65,), 64, "context of 64 tokens"),
        ((50,), 64, "at most the text's 19 tokens"),
        ((), 6, "in paragraph 1 of essay.txt"),
    ],
)
def test_lengths_and_paragraphs_that_do_not_fit_are_named(text, lengths, context, sentence):
    paragraphs = read_paragraphs(text)
    with pytest.raises(BadInput, match=sentence):
        plan(paragraphs, lambda paragraph: list(range(6)), 99, context, measured=1, lengths=lengths, seed=0)


def test_bad_texts_are_one_sentence(sinkproof, tiny_checkpoint, tmp_path):
    model = tiny_checkpoint("llama")
    refused(sinkproof("audit", model, "--text", tmp_path / "none.txt", "--out", tmp_path / "o"), "found no file")
    empty, latin, long, short = (tmp_path / name for name in ("empty.txt", "latin.txt", "long.txt", "short.txt"))
    empty.write_text("\n \n")
    latin.write_bytes(b"caf\xe9")
    long.write_text("river " * 400)
    short.write_text("a")
    refused(sinkproof("audit", model, "--text", empty, "--out", tmp_path / "o"), "expected some text", "got none")
    refused(sinkproof("audit", model, "--text", latin, "--out", tmp_path / "o"), "UTF-8", "position 3")
    refused(sinkproof("audit", model, "--text", long, "--out", tmp_path / "o"), "context of 96", "paragraph 1")
    refused(sinkproof("audit", model, "--text", short, "--out", tmp_path / "o"), "at least four tokens")
    assert not (tmp_path / "o").exists()


def test_bad_models_are_one_sentence(sinkproof, tiny_checkpoint, text, tmp_path, monkeypatch):
    out = ("--text", text, "--out", tmp_path / "o")
    refused(sinkproof("audit", tmp_path / "nowhere", *out), "nowhere")
    encoder = Path(shutil.copytree(tiny_checkpoint("llama"), tmp_path / "encoder"))
    settings = json.loads((encoder / "config.json").read_text())
    (encoder / "config.json").write_text(json.dumps(settings | {"model_type": "bert"}))
    refused(sinkproof("audit", encoder, *out), "decoder-only", "'bert'")
    bare = Path(shutil.copytree(tiny_checkpoint("llama"), tmp_path / "bare"))
    (bare / "model.safetensors").unlink()
    refused(sinkproof("audit", bare, *out), "bare")
    monkeypatch.setattr("numerics.checkpoint.memory.free_memory", lambda: 1000)
    refused(sinkproof("audit", tiny_checkpoint("llama"), *out), "GiB")
    assert not (tmp_path / "o").exists()


def test_a_missing_engine_is_exit_code_three(sinkproof, tiny_checkpoint, text, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    refused(sinkproof("audit", tiny_checkpoint("llama"), "--text", text, "--out", tmp_path), "make models", code=3)


def test_a_wrong_key_value_mapping_stops_the_audit_with_layer_head_and_error(
    sinkproof, tiny_checkpoint, text, tmp_path, monkeypatch
):
    from numerics.checkpoint import Checkpoint

    real = Checkpoint.weights
    monkeypatch.setattr(
        Checkpoint, "weights", lambda self, layer: replace(found := real(self, layer), w_k=found.w_k[::-1])
    )
    result = sinkproof("audit", tiny_checkpoint("llama"), "--text", text, *QUICK, "--out", tmp_path)
    refused(result, "Layer 0, head ", "differs from the model's by", "more than 1e-05", code=4)
    assert not list(tmp_path.rglob("layer-*.json"))
    tight = sinkproof(
        "audit", tiny_checkpoint("llama"), "--text", text, *QUICK, "--agreement", 1e-12, "--out", tmp_path
    )
    refused(tight, "Layer 0", "more than 1e-12", code=4)


@pytest.mark.parametrize(
    ("option", "value", "word"),
    [
        ("--lengths", "8,x", "--lengths"),
        ("--t", "0.5,2", "--t"),
        ("--network", "0", "--network"),
        ("--tolerance", "1", "--tolerance"),
        ("--agreement", "0", "--agreement"),
        ("--head", "1-2", "L:H"),
        ("--head", "9:0", "9:0"),
        ("--bos", "100000", "--bos"),
        ("--texts", "0", "--texts"),
    ],
)
def test_bad_options_are_one_sentence(sinkproof, tiny_checkpoint, text, tmp_path, option, value, word):
    refused(sinkproof("audit", tiny_checkpoint("llama"), "--text", text, "--out", tmp_path / "o", option, value), word)
    assert not (tmp_path / "o").exists()


def test_smollm2_by_name_needs_the_package_that_carries_it(monkeypatch):
    monkeypatch.setattr(run, "find_spec", lambda name: None)
    with pytest.raises(MissingModels, match="make models"):
        run.find_model("smollm2")
    assert run.find_model("smollm3") == Path("smollm3")


def test_averages_keep_extremes_and_turn_answers_into_shares():
    found = audit_layer._average(
        [
            {"mean": 1.0, "least": -1.0, "greatest": 2.0, "half_space": True, "rank": 3, "correlation": None},
            {"mean": 3.0, "least": 0.0, "greatest": 5.0, "half_space": False, "rank": 2, "correlation": 0.5},
        ]
    )
    assert found == {"mean": 2.0, "least": -1.0, "greatest": 5.0, "half_space": 0.5, "rank": 2, "correlation": 0.5}
    assert audit_layer._average([None]) is None and audit_layer._mean([None, float("nan")]) is None


def deep(document: dict, layers: int = 30) -> dict:
    """The document of a model with many layers: those of a tiny one, repeated and renumbered."""
    made = [document["layers"][place % 3] | {"layer": place} for place in range(layers)]
    network = document["network"]
    made_network = network | {
        "entering": [network["entering"][place % 3] for place in range(layers)],
        "layers": [network["layers"][place % 2] | {"layer": place} for place in range(layers - 1)],
    }
    return document | {"layers": made, "network": made_network}


def test_the_notes_page_keeps_what_is_written_by_hand_and_counts_what_was_measured(audited, tmp_path, monkeypatch):
    out, document = audited(DRAWN)
    folder = tmp_path / "out"
    shutil.copytree(
        out, folder, ignore=lambda where, names: [name for name in names if name in ("audit", "certificates")]
    )
    (folder / "audit.json").write_text(json.dumps(deep(document)))
    (tmp_path / "notes" / "pictures").mkdir(parents=True)
    monkeypatch.setattr(notes, "NOTES", tmp_path / "notes")
    page_file = tmp_path / "notes" / "checkpoint.md"
    page_file.write_text(f"# By hand\n\nKept.\n\n{notes.BEGIN}\n\nOld.\n")
    assert notes.main([str(folder)]) == 0
    text = page_file.read_text()
    assert text.startswith("# By hand\n\nKept.\n\n" + notes.BEGIN) and "Old." not in text
    assert (tmp_path / "notes" / "pictures" / "checkpoint-heads.png").read_bytes() == (
        out / "audit-heads.png"
    ).read_bytes()
    negative = [head["trace_vo"] < 0 for layer in document["layers"] for head in layer["heads"]]
    assert f"| heads with tr W_VO < 0 | about a third | {np.mean(negative):.2f} |" in text
    masses = [
        head["scores"][WITH]["mass_without_row_0"]["sequences"][0] > 0.3
        for layer in document["layers"]
        for head in layer["heads"]
    ]
    line = next(line for line in text.splitlines() if line.startswith("| text 1 |"))
    tokens = document["text"]["runs"][0]["tokens"]
    assert line.startswith(f"| text 1 | {tokens} | {np.mean(masses):.2f} | ")
    assert line.endswith(f" | {sum(1 / (1 + row) for row in range(tokens)) / tokens:.3f} |")
    least = [head["margins"][WITH]["least"] for layer in document["layers"] for head in layer["heads"]]
    assert f"| least above 0 | {10 * sum(value > 0 for value in least)} of 180 |" in text
    size = np.arange(1, tokens + 1)
    far = math.sqrt(sum((1 - 1 / row) ** 2 + (row - 1) / row**2 for row in size))
    assert f"| diagonal | {far:.2f} |" in text and f"| sink | {far:.2f} |" in text
    assert notes.main([str(tmp_path)]) == 2 and notes.main([]) == 2


def test_layers_are_named_where_a_sentence_needs_them(audited):
    document = json.loads(json.dumps(audited("llama")[1]))
    first, second, third = document["layers"]
    for layer, least, greatest in ((first, 0.1, 0.4), (second, -0.4, -0.1), (third, -0.1, 0.1)):
        layer["tokens"][WITH]["gain"] |= {"least": least, "greatest": greatest}
        layer["costs"]["diagonal"] |= {"lower": 1.0, "upper": 1.04}
        layer["drift"]["stream_measured"]["drift"] = 0.1
        layer["half_space"]["alignment"]["holds"] = False
    third["costs"]["diagonal"]["upper"], third["drift"]["stream_measured"]["drift"] = 1.06, -0.1
    found = [which for _, which in asides.named_layers(document)[1]]
    assert found == ["none", "0", "1", "2", "2"]
    first["half_space"]["alignment"]["holds"], second["costs"]["diagonal"]["upper"] = True, None
    found = [which for _, which in asides.named_layers(document)[1]]
    assert found == ["0", "0", "1", "2", "1, 2"]


def test_the_page_of_notes_has_the_mark_of_its_generator():
    text = (notes.NOTES / "checkpoint.md").read_text()
    assert text.count(notes.BEGIN) == 1 and "sinkproof audit smollm2" in text.split(notes.BEGIN)[1]


def test_tables_count_layers_and_heads_as_the_document_has_them(audited):
    _, document = audited(DRAWN)
    columns, rows = summary.score_table(document)
    assert [row[0] for row in rows] == list(document["layers"][0]["tokens"]) and len(columns) == 8
    assert {row[1] for row in rows} == {"1"}
    column = columns.index("mass without row 0")
    means = [
        head["scores"][WITH]["mass_without_row_0"]["mean"] for layer in document["layers"] for head in layer["heads"]
    ]
    expected = " / ".join(f"{np.mean([mean > threshold for mean in means]):.2f}" for threshold in (0.3, 0.8))
    assert rows[0][column] == expected
    columns, rows = summary.mixing_table(document, WITH)
    uniform = [
        next(point for point in layer["mixing"][WITH] if (point["target"], point["t"]) == ("uniform", 1.0))
        for layer in document["layers"]
    ]
    agree = sum((point["predicted_change"] > 0) == (point["measured_change"] > 0) for point in uniform)
    found = next(row for row in rows if row[:2] == ["uniform", "1"])
    assert found[columns.index("sign agrees")] == f"{agree} of 3"
    assert found[2] == f"{np.mean([point['measured_change'] for point in uniform]):.4f}"
    assert len(summary.layer_table(document)[1]) == 3 and len(summary.network_table(document)[1]) == 5
    assert summary.number(None) == summary.fixed(float("nan")) == "–"
