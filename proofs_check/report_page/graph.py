"""The graph of which claim uses which, laid out in layers: what a claim uses stands to its left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, ACROSS, DOWN, PER_ROW = 76, 34, 150, 52, 8


@dataclass(frozen=True)
class Node:
    """A claim with the upper left corner of its box."""

    id: str
    x: int
    y: int


@dataclass(frozen=True)
class Edge:
    """`used` is drawn to the left of `user`; `path` is an SVG path from the one's right side to the other's left."""

    used: str
    user: str
    path: str


@dataclass(frozen=True)
class Graph:
    """Boxes, arrows and the size of the drawing; `alone` starts the rows of claims without any arrow."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    width: int
    height: int
    alone: int


def layers(uses: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The length of the longest chain of uses below each claim.  `uses` has no circle, and only known claims count."""
    depth: dict[str, int] = {}

    def visit(name: str) -> int:
        if name not in depth:
            depth[name] = max((visit(other) + 1 for other in uses[name] if other in uses), default=0)
        return depth[name]

    for name in uses:
        visit(name)
    return depth


def layout(uses: Mapping[str, Sequence[str]]) -> Graph:
    """Places claims that have an arrow in columns, each near the mean of what it uses, and the rest in rows below."""
    known = {name: [other for other in others if other in uses] for name, others in uses.items()}
    linked = {name for name, others in known.items() if others} | {
        other for others in known.values() for other in others
    }
    depth = layers({name: known[name] for name in uses if name in linked})
    place: dict[str, tuple[int, int]] = {}
    deepest = max(depth.values(), default=-1)
    rows: dict[str, float] = {}
    for column in range(deepest + 1):
        members = [name for name in uses if depth.get(name) == column]
        if column == 0:  # in the order of the last claim that uses it, so that arrows cross little
            wanted = {name: float(max(i for i, user in enumerate(known) if name in known[user])) for name in members}
        else:
            wanted = {name: sum(rows[other] for other in known[name]) / len(known[name]) for name in members}
        members.sort(key=lambda name: wanted[name])
        middle = sum(wanted.values()) / len(wanted) if column else (len(members) - 1) / 2
        for index, name in enumerate(members):
            rows[name] = middle + index - (len(members) - 1) / 2
    top = min(rows.values(), default=0.0)
    for name, row in rows.items():
        place[name] = (depth[name] * ACROSS, round((row - top) * DOWN))
    bottom = max((y for _, y in place.values()), default=-DOWN) + DOWN
    lonely = [name for name in uses if name not in linked]
    gap = 28 if linked and lonely else 0
    for index, name in enumerate(lonely):
        place[name] = (index % PER_ROW * (WIDTH + 14), bottom + gap + index // PER_ROW * (HEIGHT + 12))
    boxes = [place[name] for name in linked]
    edges = tuple(
        Edge(other, name, _curve(place[other], place[name], boxes)) for name in uses for other in known[name]
    )
    return Graph(
        tuple(Node(name, *place[name]) for name in uses),
        edges,
        max((x for x, _ in place.values()), default=0) + WIDTH,
        max((y for _, y in place.values()), default=0) + HEIGHT,
        bottom + gap if lonely else 0,
    )


def _curve(start: tuple[int, int], end: tuple[int, int], boxes: Sequence[tuple[int, int]]) -> str:
    """From a box's right side to another's left; through the gaps between the boxes of columns on the way."""
    x0, y0, x1, y1 = start[0] + WIDTH, start[1] + HEIGHT // 2, end[0] - 5, end[1] + HEIGHT // 2
    points = [(x0, y0)]
    for x in range(start[0] + ACROSS, end[0], ACROSS):
        line = y0 + (y1 - y0) * (x + WIDTH // 2 - x0) // (x1 - x0)
        above, below = (HEIGHT - DOWN) // 2, (HEIGHT + DOWN) // 2
        gaps = [y + shift for column, y in boxes if column == x for shift in (above, below)]
        height = min(gaps, key=lambda gap: abs(gap - line), default=line)
        points += [(x, height), (x + WIDTH, height)]
    points.append((x1, y1))
    path = f"M{x0} {y0}"
    for index, ((xa, ya), (xb, yb)) in enumerate(zip(points, points[1:])):
        middle = (xa + xb) // 2
        path += f" C{middle} {ya} {middle} {yb} {xb} {yb}" if index % 2 == 0 else f" L{xb} {yb}"
    return path
