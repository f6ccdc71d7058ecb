"""What people wrote, for the page: a claim's note, its pictures, and the table of what must be trusted.

All of it is read from `notes/`; nothing is written a second time here.  Markdown goes through markdown-it with raw HTML
off, links lead to a claim of the same page or to arXiv and nowhere else, and pictures become data.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from proofs_check.notes import BEGIN

NOTES = resources.files("proofs_check") / "report_page" / "notes"
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
ARXIV = "https://arxiv.org/"
_PICTURE = re.compile(r"!\[([^]]*)\]\(pictures/([\w.-]+\.png)\)")
_LINKED = re.compile(r"\]\(([\w-]+\.md)\)")


@dataclass(frozen=True)
class Picture:
    """A PNG as a data address, with the caption that its note gives it."""

    name: str
    caption: str
    data: str


@dataclass(frozen=True)
class Link:
    """A row of the table in notes/trust.md: what a link asks one to trust, what not, and the kinds that it names."""

    name: Markup
    trusted: Markup
    not_trusted: Markup
    kinds: frozenset[str]


def page(name: str) -> str:
    """The text of a page of the notes, '' where there is none."""
    found = NOTES / name
    return found.read_text(encoding="utf-8") if re.fullmatch(r"[\w-]+\.md", name) and found.is_file() else ""


def claim_page(claim: str) -> str:
    """The page of a claim that ships with the project, '' for a claim of the user's own."""
    text = page(f"{claim}.md")
    return text if BEGIN in text and text.startswith(f"# {claim}:") else ""


def pictures(claim: str) -> tuple[Picture, ...]:
    """The pictures of a claim's note, of pages of no claim that it links, and those named after the claim."""
    text = claim_page(claim)
    if not text:
        return ()
    linked = [page(name) for name in dict.fromkeys(_LINKED.findall(text)) if not claim_page(name.removesuffix(".md"))]
    named = [found for item in sorted(NOTES.iterdir(), key=lambda item: item.name) if item.name.endswith(".md")
             for found in _PICTURE.findall(item.read_text(encoding="utf-8")) if found[1].startswith(f"{claim}-")]
    found = [match for item in (text, *linked) for match in _PICTURE.findall(item)] + named
    return tuple(
        Picture(name, caption, _data(name))
        for name, caption in {name: caption for caption, name in found}.items()
        if (NOTES / "pictures" / name).is_file()
    )


def _data(name: str) -> str:
    content = (NOTES / "pictures" / name).read_bytes()
    return "data:image/png;base64," + base64.b64encode(content).decode("ascii")


def note(claim: str, anchors: Mapping[str, str]) -> Markup:
    """The part of a claim's note that was written by hand, its headings four levels down; '' where there is none."""
    hand = claim_page(claim).split(BEGIN)[0]
    return _render(MARKDOWN.parse(hand), anchors, 3) if hand else Markup("")


def trust() -> tuple[tuple[Link, ...], Markup]:
    """The rows of the table in notes/trust.md, and what the page says besides."""
    tokens = MARKDOWN.parse(page("trust.md"))
    kinds = [token.type for token in tokens]
    if "table_open" not in kinds:
        return (), _render(tokens, {}, 1)
    first, last = kinds.index("table_open"), kinds.index("table_close")
    body = tokens[kinds.index("tbody_open"):last]
    cells = [token for token in body if token.type == "inline"]
    rows = [cells[index:index + 3] for index in range(0, len(cells), 3)]
    return tuple(_link(row) for row in rows), _render(tokens[:first] + tokens[last + 1:], {}, 1)


def _link(row: list[Token]) -> Link:
    named = frozenset(child.content for child in row[0].children or [] if child.type == "code_inline")
    return Link(*(_render([cell], {}, 0) for cell in row), named)


def _render(tokens: Iterable[Token], anchors: Mapping[str, str], deeper: int) -> Markup:
    """Tokens as HTML without the page's own title, other headings `deeper` levels down, links and pictures safe."""
    kept: list[Token] = []
    skipping = False
    for token in tokens:
        if token.type == "heading_open" and token.tag == "h1":
            skipping = True
        if not skipping:
            if token.type in ("heading_open", "heading_close"):
                token.tag = f"h{min(6, int(token.tag[1]) + deeper)}"
            if token.children is not None:
                token.children = _safe(token.children, anchors)
            kept.append(token)
        if token.type == "heading_close" and token.tag == "h1":
            skipping = False
    return Markup(MARKDOWN.renderer.render(kept, MARKDOWN.options, {}))  # markdown-it escapes all text, with html off


def _safe(children: list[Token], anchors: Mapping[str, str]) -> list[Token]:
    kept, open_links = [], []
    for child in children:
        if child.type == "image":
            continue  # pictures stand in their own section
        if child.type == "link_open":
            target = str(child.attrGet("href"))
            claim = target.removesuffix(".md")
            if target.startswith(ARXIV):
                open_links.append(True)
            elif target.endswith(".md") and claim in anchors:
                child.attrSet("href", f"#{anchors[claim]}")
                open_links.append(True)
            else:
                open_links.append(False)
            if not open_links[-1]:
                continue
        if child.type == "link_close" and not open_links.pop():
            continue
        kept.append(child)
    return kept
