"""The page of sweeps and maps: its commands parse, its tables say what the files say, a missing file is said."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from test_scaling_commands import run

from proofs_check import scaling_page
from proofs_check.commands.phase import phase
from proofs_check.commands.scale import scale

COMMANDS = {"scale": scale, "phase": phase}


@pytest.mark.parametrize("name", scaling_page.RUNS)
def test_every_command_behind_the_page_parses_and_stands_on_it(name):
    command, *arguments = scaling_page.RUNS[name].split()
    COMMANDS[command].make_context(command, arguments)
    assert f"`sinkproof {scaling_page.RUNS[name]}`" in scaling_page.PAGE.read_text().split(scaling_page.BEGIN)[1]


def test_the_pictures_behind_the_page_are_copied_to_where_the_notes_show_them():
    pages = scaling_page.PAGE.parent.glob("*.md")
    shown = {name for page in pages for name in re.findall(r"\(pictures/([\w.-]+)\)", page.read_text())}
    for source, name in scaling_page.COPIED.items():
        assert source.split("/")[0] in scaling_page.RUNS and name in shown
        assert (scaling_page.PICTURES / name).read_bytes().startswith(b"\x89PNG")


def test_the_tables_repeat_the_files_and_count_what_disagrees(tmp_path, monkeypatch):
    sizes = "5,8,12,16"
    runs = {"exchangeable": f"scale --cloud orthonormal --norm nuclear --sizes {sizes}",
            "fading": f"scale --cloud fading --norm nuclear --form margin --sizes {sizes}",
            "independent": f"scale --cloud independent --norm nuclear --form margin --draws 2 --sizes {sizes}",
            "drawn": f"scale --cloud common --cloud real --norm nuclear --form margin --draws 2 --sizes {sizes}",
            "map-T-p": "phase --x T --y p --points 4 --x-range 3,9"}
    monkeypatch.setattr(scaling_page, "RUNS", runs)
    documents = {}
    for name, text in runs.items():
        command, *arguments = text.split()
        documents[name] = run(COMMANDS[command], *arguments, out=tmp_path / name)[1]
    assert scaling_page.read_runs(tmp_path) == documents
    text = scaling_page.generated(documents)
    rows = scaling_page.pairs(documents["exchangeable"]["exponents"])
    # r, κ, form, and sum or QK alone: the product needs another norm
    assert all(scaling_page.line(*pair) in text for pair in rows) and len(rows) == 2 * 2 * 2 * 2
    assert f"Of {len(rows)} cells 2 have the orders T and T^(3/2) exactly." in text and "32 of 32" in text
    assert "| 4 of 4 |" in text and "In all 4 of 4 points agree." in text
    points = documents["map-T-p"]["points"]
    points[0]["verdict"], documents["map-T-p"]["agree"] = "open", 3
    assert "In all 3 of 4 points agree." in scaling_page.generated(documents)
    documents["exchangeable"]["exponents"][0]["verdict"] = "inconsistent"
    assert "1 inconsistent" in scaling_page.generated(documents)


def test_a_run_that_is_missing_is_one_sentence_and_the_page_stays(tmp_path, capsys):
    before = scaling_page.PAGE.read_bytes()
    (tmp_path / "exchangeable").mkdir()
    (tmp_path / "exchangeable" / "scale.json").write_text(json.dumps({}))
    assert scaling_page.main([str(tmp_path)]) == 2
    assert "fading/scale.json, found none; run: python -m proofs_check.scaling_page --run" in capsys.readouterr().err
    assert scaling_page.PAGE.read_bytes() == before


def test_the_page_is_written_whole_with_its_hand_written_part_kept(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(f"by hand\n\n{scaling_page.BEGIN}\nold")
    monkeypatch.setattr(scaling_page, "PAGE", page)
    monkeypatch.setattr(scaling_page, "COPIED", {})
    monkeypatch.setattr(scaling_page, "read_runs", lambda folder: {})
    monkeypatch.setattr(scaling_page, "generated", lambda documents: scaling_page.BEGIN + "\nnew\n")
    assert scaling_page.main([str(tmp_path)]) == 0 and page.read_text() == f"by hand\n\n{scaling_page.BEGIN}\nnew\n"
    assert [Path(name).name for name in tmp_path.iterdir()] == ["page.md"]
