"""report.html as text: complete, self-contained, escaped, and computed from the run and from nothing else."""

from __future__ import annotations

import base64
import copy
import fnmatch
import hashlib
import html
import json
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest
import report_data

from proofs_check import report_html
from proofs_check.inputs import BadInput
from proofs_check.kernel.command import main as kernel_check
from proofs_check.kernel.replay import _EVIDENCE
from proofs_check.report_page import graph, written
from proofs_check.report_page.font import REPERTOIRE, math_font
from proofs_check.report_page.prose import prose

ROOT = Path(__file__).resolve().parents[2]
VOID = {"meta", "input", "img", "br", "hr", "link"}


class Page(HTMLParser):
    """Elements with their attributes, the text inside each, and whether tags close in order."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[int] = []
        self.texts: list[list[str]] = []
        self.broken: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.texts.append([])
        if tag not in VOID:
            self.open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.texts.append([])

    def handle_endtag(self, tag):
        if not self.open or self.elements[self.open[-1]][0] != tag:
            self.broken.append(f"</{tag}> at {self.getpos()}")
        else:
            self.open.pop()

    def handle_data(self, data):
        for index in self.open:
            self.texts[index].append(data)

    def all(self, tag: str, **having: str) -> list[tuple[dict[str, str | None], str]]:
        return [
            (attributes, " ".join("".join(text).split()))
            for (name, attributes), text in zip(self.elements, self.texts)
            if name == tag and all(attributes.get(key.rstrip("_")) == value for key, value in having.items())
        ]


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tuple[Path, dict]:
    out = tmp_path_factory.mktemp("report") / "run"
    document = report_data.stored_run(out)
    report_html.write(out)
    return out, document


@pytest.fixture(scope="module")
def text(run) -> str:
    return (run[0] / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text) -> Page:
    return Page(text)


@pytest.fixture(scope="module")
def statements(run) -> dict:
    found = [json.loads(path.read_text()) for path in (run[0] / "certificates").glob("*/claim.json")]
    return {item["id"]: item for item in found}


def own(document: dict) -> dict:
    """A copy with the small claims only, which draws quickly."""
    return {
        **copy.deepcopy(document),
        "claims": copy.deepcopy([row for row in document["claims"] if row["family"] == "own"]),
    }


def test_the_page_is_well_formed_and_below_eight_megabytes(page: Page, text: str) -> None:
    assert page.broken == [] and page.open == []
    assert len(text.encode()) < 8_000_000


def test_a_tag_that_does_not_close_is_seen() -> None:
    assert Page("<p><b>x</p></b>").broken != []


def test_every_claim_is_there_with_its_verdict_parts_hypotheses_and_neighbours(
    run, page: Page, statements: dict
) -> None:
    links = report_html.anchors([row["id"] for row in run[1]["claims"]])
    for row in run[1]["claims"]:
        (_, said), = page.all("details", id=links[row["id"]])
        plain = " ".join(said.split())
        parts = statements[row["id"]]["parts"]
        wanted = [
            row["id"],
            row["label"],
            *row["reasons"],
            *(part["name"] for part in parts),
            *(item["name"] for item in row["hypotheses"]),
            *(item["name"] for item in row["neighbours"]["listed"]),
            *(item["certificate"] for item in row["evidence"]),
        ]
        assert [item for item in wanted if " ".join(item.split()) not in plain] == [], row["id"]


def test_ids_are_unique_and_every_link_leads_to_one_or_to_arxiv(page: Page) -> None:
    ids = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert (
        len(ids) == len(set(ids)) and "top" in ids and "top-" in ids
    )  # a claim called 'top' does not take the page's own id
    targets = {attributes["href"] for _, attributes in page.elements if attributes.get("href")}
    assert {
        target for target in targets if target[1:] not in ids and not target.startswith("https://arxiv.org/")
    } == set()
    assert {target for target in targets if not target.startswith("#")} == {"https://arxiv.org/abs/2605.08453"}


def test_nothing_is_loaded_from_anywhere(page: Page, text: str) -> None:
    loaded = [
        attributes[key]
        for _, attributes in page.elements
        for key in ("src", "srcset", "poster", "data", "action")
        if attributes.get(key)
    ]
    assert loaded and all(item.startswith("data:image/png;base64,") for item in loaded)
    assert not page.all("link") and not page.all("iframe") and not page.all("base")
    style = "".join(said for _, said in page.all("style"))
    assert set(re.findall(r"url\(([^)]{0,20})", style)) == {"data:font/woff;base6"} and "@import" not in style


def test_the_policy_allows_this_style_and_this_script_alone(page: Page, text: str) -> None:
    (attributes, _), = page.all("meta", **{"http-equiv": "Content-Security-Policy"})
    for tag, source in re.findall(r"<(style|script)>(.*?)</\1>", text, re.S):
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in attributes["content"]
    assert "default-src 'none'" in attributes["content"] and "unsafe" not in attributes["content"]
    assert not [name for _, found in page.elements for name in found if name == "style" or name.startswith("on")]


def test_a_hostile_claim_is_text_and_nothing_else(page: Page, text: str) -> None:
    assert len(page.all("script")) == 1 and report_data.HOSTILE not in text
    (_, said), = page.all("details", id="HOSTILE")
    assert said.count(report_data.HOSTILE) > 6 and "a < b & c > d" in said
    assert all(item["src"].startswith("data:") for item, _ in page.all("img"))


def test_the_page_is_a_function_of_the_run(run, text: str, statements: dict) -> None:
    before = copy.deepcopy(run[1])
    assert report_html.html(run[1], statements) == text and run[1] == before


def test_without_the_statements_the_page_says_so_and_shows_the_rest(run) -> None:
    page = Page(report_html.html(own(run[1]), {}))
    assert not page.all("math") and page.broken == []
    assert "claim.json was not beside report.json" in page.all("details", id="BASE")[0][1]


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"schema": "sinkproof/report/0"}'])
def test_a_folder_without_a_report_is_refused_in_one_sentence(tmp_path: Path, content: str | None, capsys) -> None:
    if content is not None:
        (tmp_path / "report.json").write_text(content)
    with pytest.raises(BadInput, match="expected .*; run 'sinkproof verify"):
        report_html.rebuild(tmp_path)
    assert report_html.main([str(tmp_path)]) == 2 and len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "report.html").exists()


def test_the_page_is_made_again_from_a_stored_run(run, text: str, capsys) -> None:
    (run[0] / "report.html").unlink()
    assert report_html.main([str(run[0])]) == 0 and (run[0] / "report.html").read_text(encoding="utf-8") == text
    assert report_html.main([]) == 2


def test_every_command_on_the_page_replays_something_that_exists(run, page: Page) -> None:
    commands = {said for attributes, said in page.all("code", class_="command")}
    assert len(commands) > 20 and all(command.startswith("sinkproof check certificates/") for command in commands)
    paths = [run[0] / command.removeprefix("sinkproof check ") for command in commands]
    assert [path for path in paths if not path.exists()] == []
    assert {kernel_check([str(path)]) for path in paths if "HOSTILE" in str(path) or "USER" in str(path)} == {0}


def test_colours_of_the_graph_are_the_verdicts(run, page: Page) -> None:
    links = report_html.anchors([row["id"] for row in run[1]["claims"]])
    drawn = {
        attributes["data-node"]: attributes["class"] for attributes, _ in page.all("a") if "data-node" in attributes
    }
    assert drawn == {links[row["id"]]: f"node {row['headline'].lower().replace(' ', '-')}" for row in run[1]["claims"]}
    arrows = {(item["data-used"], item["data-user"]) for item, _ in page.all("path", class_="edge")}
    assert arrows == {(links[used], links[row["id"]]) for row in run[1]["claims"] for used in row["uses"]}


def test_another_verdict_is_another_colour(run, statements: dict) -> None:
    changed = own(run[1])
    row = next(row for row in changed["claims"] if row["id"] == "BASE")
    row.update(headline="SUSPECT", label="SUSPECT")
    page = Page(report_html.html(changed, statements))
    assert [item["class"] for item, _ in page.all("a") if item.get("data-node") == "BASE"] == ["node suspect"]


def test_trust_has_the_notes_rows_with_the_scope_of_this_run(run, page: Page, statements: dict) -> None:
    note = (ROOT / "notes/trust.md").read_text()
    rows = [line for line in note.splitlines() if line.startswith("|")][2:]
    links, _ = written.trust()
    assert len(links) == len(rows) > 3 and set().union(*(link.kinds for link in links)) <= set(_EVIDENCE)
    for link, row in zip(links, rows):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", row)  # a link to a page of the notes is words there
        cells = [cell.strip() for cell in plain.strip("|").split(" | ")]
        for made, source in zip((link.name, link.trusted, link.not_trusted), cells):
            assert html.unescape(re.sub("<[^>]+>", "", made)).strip() == source.replace("`", "").strip()
    changed = own(run[1])
    for row in changed["claims"]:
        for item in row["evidence"]:
            if row["id"] == "USER" and item["role"] == "evidence":
                item.update(kind="formal", grade="kernel", scope="as stated")
    scopes = {said for item, said in Page(report_html.html(changed, statements)).all("td", **{"data-label": "Scope"})}
    count = len(changed["claims"])
    assert f"1 of {count}: USER" in scopes and f"all {count} claims" in scopes and "no claim" in scopes
    assert not any(said.startswith("1 of ") for item, said in page.all("td", **{"data-label": "Scope"}))


def test_a_claim_shows_the_pictures_of_its_note(page: Page) -> None:
    shown = {}
    for claim in ("C8", "O1", "O4", "O8", "C5", "G1"):
        shown[claim] = [picture.name for picture in written.pictures(claim)]
        assert all((ROOT / "notes/pictures" / name).is_file() for name in shown[claim])
    assert shown["G1"] == [] and all(shown[claim] for claim in ("C8", "O1", "O4", "O8", "C5"))
    assert "C8-orthonormal.png" in shown["C8"]  # from the page about T against T^{3/2}, which C8's note links
    data = base64.b64encode((ROOT / "notes/pictures/O4-regions.png").read_bytes()).decode()
    assert [item["alt"] for item, _ in page.all("img") if item["src"].endswith(data)] == [
        picture.caption for picture in written.pictures("O4") if picture.name == "O4-regions.png"]


def test_a_claim_of_ones_own_gets_no_page_of_the_notes() -> None:
    assert written.claim_page("trust") == written.claim_page("../README") == written.claim_page("HOSTILE") == ""
    assert written.claim_page("G1").startswith("# G1:")


def test_notes_link_to_claims_on_the_page_and_nowhere_else() -> None:
    tokens = written.MARKDOWN.parse(
        "[a](G1.md) [b](T32.md) [c](https://example.org) [d](javascript:alert(1)) ![e](x.png) <b>"
    )
    made = str(written._render(tokens, {"G1": "G1"}, 0))
    assert re.findall("href=\"([^\"]*)\"", made) == ["#G1"] and "<img" not in made and "<b>" not in made
    assert "".join(re.sub("<[^>]+>", "", made).split()).startswith("abc")


def test_headings_go_down_one_level_at_a_time_and_tables_are_labelled(page: Page, text: str) -> None:
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:]))
    tables = re.findall(r"<table class=.*?</table>", text, re.S)  # those without a class stand in notes
    assert len(tables) > 50
    for table in tables:
        assert table.count("<caption>") == 1 and re.findall(r"<th(?! scope=\"(?:col|row)\"|ead)[^>]*", table) == []
    assert all(item.get("aria-labelledby") for item, _ in page.all("section"))


def test_the_package_takes_every_file_of_the_page_along() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"][
        "proofs_check"
    ]
    folder = ROOT / "proofs_check/report_page"
    files = [path for path in folder.iterdir() if path.is_file() and path.suffix != ".py"]
    files += [path for path in (folder / "notes").rglob("*") if path.suffix in (".md", ".png")]
    names = [str(path.relative_to(ROOT / "proofs_check")) for path in files]
    assert (
        len(names) > 50
        and [name for name in names if not any(fnmatch.fnmatch(name, pattern) for pattern in patterns)] == []
    )
    assert (folder / "notes").resolve() == ROOT / "notes"


def test_the_font_has_every_letter_that_formulas_use(page: Page) -> None:
    used = {letter for tag in ("mi", "mn", "mo", "mtext") for _, said in page.all(tag) for letter in said}
    assert (
        len(used) > 80
        and {letter for letter in used if ord(letter) not in REPERTOIRE and ord(letter) not in (0x2061, 0x2062)}
        == set()
    )
    assert math_font.__wrapped__() == math_font() and len(math_font()) < 60_000


@pytest.mark.parametrize(("words", "made"), [
    ("min_i |<x_s, x_i>| >= T^{3/2}", "min<sub>i</sub> |⟨x<sub>s</sub>, x<sub>i</sub>⟩| ≥ T<sup>3/2</sup>"),
    ("rho_T and G^-T n_s", "ρ<sub>T</sub> and G<sup>−T</sup> n<sub>s</sub>"),
    ("m<n, k>2 and closed_form, a_b_c", "m&lt;n, k&gt;2 and closed_form, a_b_c"),
    ("<script>alert(1)</script> & x<y", "&lt;script&gt;alert(1)&lt;/script&gt; &amp; x&lt;y"),
    ("x^<b> and <i, onclick>", "x^&lt;b&gt; and ⟨i, onclick⟩"),
    ("notes/C8.md, sinkproof, tauten", "notes/C8.md, sinkproof, tauten"),
])
def test_words_keep_their_meaning_when_set_as_type(words: str, made: str) -> None:
    assert prose(words) == made


def test_a_user_stands_to_the_right_of_what_it_uses_and_boxes_do_not_touch() -> None:
    uses = {"a": [], "b": ["a"], "c": ["a", "b", "elsewhere"], "d": ["a"], "e": [], "f": [], "g": ["e", "d"]}
    drawn = graph.layout(uses)
    at = {node.id: node for node in drawn.nodes}
    assert set(at) == set(uses) and {(edge.used, edge.user) for edge in drawn.edges} == {
        ("a", "b"), ("a", "c"), ("b", "c"), ("a", "d"), ("e", "g"), ("d", "g")}
    assert all(at[edge.used].x + graph.WIDTH < at[edge.user].x for edge in drawn.edges)
    assert all(
        abs(p.x - q.x) > graph.WIDTH or abs(p.y - q.y) > graph.HEIGHT
        for p in drawn.nodes
        for q in drawn.nodes
        if p.id < q.id
    )
    assert all(
        0 <= node.x <= drawn.width - graph.WIDTH and 0 <= node.y <= drawn.height - graph.HEIGHT for node in drawn.nodes
    )
    assert graph.layers(uses)["c"] == 2 and graph.layout({}).nodes == ()


def test_an_arrow_past_a_column_goes_between_its_boxes() -> None:
    drawn = graph.layout({"a": [], "b": ["a"], "c": ["a"], "d": ["a"], "e": ["a", "b", "c", "d"]})
    path, = (edge.path for edge in drawn.edges if (edge.used, edge.user) == ("a", "e"))
    across = int(re.search(r" L\d+ (\d+)", path)[1])
    boxes = [node for node in drawn.nodes if node.id in "bcd"]
    assert all(across < node.y or across > node.y + graph.HEIGHT for node in boxes)
