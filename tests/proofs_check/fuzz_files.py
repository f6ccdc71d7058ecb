"""Files that a user might hand over by mistake or by malice: arrays, claims, certificates, and places for output.

Every maker takes a `random.Random` and a folder.  hypothesis and atheris both know how to stand behind a `Random`, so
the same makers serve both.
"""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
from copy import deepcopy
from pathlib import Path
from random import Random

import numpy as np
from safetensors.numpy import save

from proofs_check.kernel import canonical, digest

JUNK = ("", " ", "0", "-1", "nan", "inf", "1e400", "1_0", "١", "0x1p3", "é‖∞", "a" * 300, "../x", "-", "--", "\udcff",
        "[/bold]", "%s{0}", "\u202e", "x\ny", "1,2", ":", "x:y:z", "~", "*")
FLOATS = ("nan", "inf", "-inf", "0", "-0.0", "1", "2", "0.5", "-1", "1e308", "5e-324", "1e-300", "1e999",
          "0.9999999999999999")
ENTRIES = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 5e-324, 1e300, 1.7e308, -1e308, 1e-8, 3.0, float("nan"), float("inf"))
DTYPES = ("<f8", ">f8", "<f4", "<f2", ">f2", "<i4", "?", "<c16", "U3", "S2", "O", "V8", "M8[D]", "<f8,<f8")


def mutated(rng: Random, raw: bytes) -> bytes:
    """A few bytes changed, removed, doubled, or the end cut off."""
    content = bytearray(raw)
    for _ in range(rng.randint(1, 4)):
        if not content:
            break
        at = rng.randrange(len(content))
        match rng.randrange(5):
            case 0:
                content[at] ^= 1 << rng.randrange(8)
            case 1:
                content[at] = rng.choice((0, 255, 39, 40, 44, 57, 123, 125))
            case 2:
                del content[at:at + rng.randint(1, 8)]
            case 3:
                content[at:at] = content[at:at + rng.randint(1, 16)]
            case 4:
                del content[at:]
    return bytes(content)


def cloud(rng: Random, rows: int | None = None, columns: int | None = None) -> np.ndarray:
    """A small matrix of floats: tame, with repeated rows, or with extreme entries."""
    rows = rng.choice((0, 1, 2, 3, 3, 4)) if rows is None else rows
    columns = rng.choice((0, 1, 2, 2, 3)) if columns is None else columns
    kind = rng.randrange(4)
    if kind < 2:
        array = np.array([[rng.randint(-8, 8) / 4 for _ in range(columns)] for _ in range(rows)])
    elif kind == 2:
        array = np.array([[rng.choice(ENTRIES) for _ in range(columns)] for _ in range(rows)])
    else:
        array = np.array([[rng.choice(ENTRIES[:-2]) for _ in range(columns)] for _ in range(rows)])
    return array.reshape(rows, columns)


def array(rng: Random) -> np.ndarray:
    """Mostly a cloud; else another type, another rank, another byte order."""
    found = cloud(rng)
    if rng.randrange(3):
        return found
    with np.errstate(all="ignore"):
        match rng.randrange(4):
            case 0:
                code = rng.choice(DTYPES)
                if code[0] not in "<>" or "," in code:
                    return np.zeros((2, 2), code)
                return np.nan_to_num(found, posinf=1, neginf=1).astype(code)
            case 1:
                others = ((-1,), (1, *found.shape), (*found.shape, 1))
                return found.reshape(rng.choice(others)) if found.size else found[..., None]
            case 2:
                return np.asfortranarray(found)
            case _:
                return np.array(rng.choice(ENTRIES))


def npy(rng: Random) -> bytes:
    """A .npy file, sometimes with a header of our own making."""
    stream = io.BytesIO()
    np.save(stream, array(rng), allow_pickle=True)
    raw = stream.getvalue()
    if rng.randrange(4) == 0:
        shape = rng.choice(("(10**9,)", "(100000000, 100000000)", "(-1, 2)", "(2, 2, 2, 0)", "(3.0, 2)", "None", "()",
                            "(1e9,)", "(True, 2)", f"({2**63}, 1)", "('a',)", "(0, 99999999999999999999)"))
        descr = rng.choice(("'<f8'", "'|O'", "'<f16'", "'<f3'", "[('x', '<f8')]", "None", "3", "'<U999999999'",
                            "'(2,2)<f8'"))
        order = rng.choice(("False", "True", "1", "None"))
        header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
        if rng.randrange(6) == 0:
            header = b"(" * rng.choice((50, 5000)) + header
        header += b" " * (-(len(header) + 11) % 64) + b"\n"
        major = rng.choice((1, 1, 2, 3, 4, 0, 255))
        length = struct.pack("<H" if major == 1 else "<I", len(header) & 0xFFFF)
        return b"\x93NUMPY" + bytes((major, rng.choice((0, 0, 1)))) + length + header + raw[128:]
    return raw if rng.randrange(4) else mutated(rng, raw)


def npz(rng: Random) -> bytes:
    """An archive of such files under fair and foul names; sometimes one that unpacks to far more than it weighs."""
    stream = io.BytesIO()
    method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name in dict.fromkeys(rng.choice(("x.npy", "x.npy", "y.npy", "s.npy", "x", "x.npy/", "../x.npy", "é.npy",
                                              ".npy", "a" * 300))
                                  for _ in range(rng.choice((0, 1, 1, 2, 3)))):
            archive.writestr(name, npy(rng) if rng.randrange(8) else b"\0" * 2**22)
    raw = stream.getvalue()
    if rng.randrange(6) == 0:  # "encrypted"
        raw = raw.replace(b"PK\x03\x04\x14\x00\x00", b"PK\x03\x04\x14\x00\x01")
        raw = raw.replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01")
    return raw if rng.randrange(4) else mutated(rng, raw)


def safetensors(rng: Random) -> bytes:
    """A header of our own over a few bytes of data."""
    entries = rng.choice((4, 8, 12))
    if rng.randrange(2):
        return save({name: cloud(rng) for name in rng.choice((("x",), ("x", "y"), ("x", "s")))})
    code, width = rng.choice((("F64", 8), ("F64", 8), ("F32", 4), ("F16", 2), ("BF16", 2), ("I64", 8), ("F8_E4M3", 1),
                              ("BOOL", 1), ("XX", 8)))
    shapes = ([entries // 2, 2], [2, entries // 2], [entries], [2**40, 2**40], [-1], [], "x")
    offsets = ([0, entries * width], [0, entries * width], [0, 2**50], [8, 0], [0])
    header: object = {name: {"dtype": code, "shape": rng.choice(shapes), "data_offsets": rng.choice(offsets)}
                      for name in rng.choice((("x",), ("x", "s"), ("x", "y"), ()))}
    if rng.randrange(8) == 0:
        header = rng.choice(([], None, "x", {"__metadata__": {"a": 1}}, {"x": None}))
    text = json.dumps(header).encode()
    length = len(text) if rng.randrange(8) else rng.choice((0, 2**63, 2**31, len(text) + 9))
    values = np.array([rng.choice(ENTRIES) for _ in range(entries)]).tobytes()
    raw = struct.pack("<Q", length) + text + values[:entries * width]
    return raw if rng.randrange(4) else mutated(rng, raw)


MAKERS = {".npy": npy, ".npz": npz, ".safetensors": safetensors}


def array_file(rng: Random, folder: Path, stem: str = "x") -> str:
    """The text of an option that names an array: usually a file of its kind, sometimes none, with or without a key."""
    suffix = rng.choice(tuple(MAKERS))
    path = folder / f"{stem}{suffix}"
    match rng.randrange(12):
        case 0:
            strange_place(rng, path)
        case 1:
            path = folder / f"{stem}{rng.choice(('', '.txt', '.NPY', '.npz.npy'))}"
            path.write_bytes(MAKERS[suffix](rng))
        case 2:
            path.write_bytes(MAKERS[rng.choice(tuple(MAKERS))](rng))
        case 3:
            return rng.choice(JUNK)
        case 4 | 5 | 6:  # what a user would hand over
            path = folder / f"{stem}.npy"
            np.save(path, cloud(rng, rng.randint(2, 5), rng.randint(1, 3)))
        case _:
            path.write_bytes(MAKERS[suffix](rng))
    return str(path) + (f":{rng.choice(('x', 'y', 's', '', 'x.npy', '../x'))}" if rng.randrange(3) == 0 else "")


def strange_place(rng: Random, path: Path) -> None:
    """Put something that is no plain file at `path`."""
    match rng.randrange(7):
        case 0:
            pass
        case 1:
            path.mkdir()
        case 2:
            path.symlink_to(path.name)
        case 3:
            path.symlink_to("/dev/null")
        case 4:
            os.mkfifo(path)
        case 5:
            path.symlink_to("/dev/zero")
        case 6:
            path.write_bytes(b"")
            path.chmod(0)


def out_place(rng: Random, folder: Path) -> str:
    """A value for --out: usually a fresh folder, sometimes one that is in the way."""
    path = folder / "out"
    match rng.randrange(10):
        case 0:
            strange_place(rng, path)
        case 1:
            return rng.choice(("", ".", "..", "/dev/null", "/dev/null/x", "/proc/x", "a" * 300, "o/" * 60, "é ‖",
                               "\udcff", "x\ny", "-", "~"))
        case 2:  # what a run writes is already there, as something else
            path.mkdir()
            name = rng.choice(("certificates", "report.json", "cost.json", "inspect.json", "scale.json", "scale-points",
                               "scale-points.csv", "simulate-mix.png", "phase-T-rho.csv", "counterexamples",
                               "report.md", "cost-sink-nuclear.png"))
            if rng.randrange(2):
                (path / name).mkdir()
                (path / name / "kept").write_text("a user's file")
            else:
                (path / name).write_text(rng.choice(("", "{}", "a user's file")))
        case 3:
            path.mkdir()
            (path / "certificates").mkdir()
            for name in ("inspect", "cost", "MINE", "E2"):
                if rng.randrange(2):
                    (path / "certificates" / name).mkdir()
                    stored = rng.choice((b"", b"{}", b"[]", b'{"key":1}', b"\xff", b"null"))
                    (path / "certificates" / name / "run.json").write_bytes(stored)
                else:
                    strange_place(rng, path / "certificates" / name)
    return str(path)


NUMBERS = ("0", "1", "-1", "7", "-0", "01", "+1", "1.5", "", "9" * 5000, "0x1.0000000000000p+0",
           "0x1.8000000000000p+9999", "0x1p+1023", "nan", ["1", "2"], ["2", "4"], ["1", "0"], ["1", "-3"], ["1"], [],
           ["1", "3", "4"], "5000001", "99999999999")
ATOMS = ("x", "y", "z", "0", "1", "2", "-1", "4096", "5000000", "10**4096", "pi", "True", "[]", "[1, 2]",
         "[[1, 0], [0, 1]]", "'w'", "1.5", "range(4)", "range(5000000)", "eye(2)", "eye(2000)", "eye(5000000)", "None",
         "...", "[x, [y]]")
WRAPS = ("({a}) + ({b})", "({a}) - ({b})", "({a}) * ({b})", "({a}) / ({b})", "({a}) ** ({b})", "({a}) @ ({b})",
         "({a}) >= ({b})", "({a}) == ({b})", "({a}) < ({b})", "({a}) in ({b})", "({a})[{b}]", "[({a}), ({b})]",
         "sum(({a}) for i in ({b}))", "all(({a}) > i for i in ({b}))", "sqrt({a})", "exp({a})", "log({a})", "cos({a})",
         "abs({a})", "min({a}, {b})", "max({a})", "len({a})", "range({a})", "eye({a})", "outer({a}, {b})",
         "softmax({a})", "rank({a})", "psd({a})", "trace({a})", "transpose({a})", "independent({a})",
         "separable({a}, 'w')", "flat({a})", "matrix({a})", "hull_distance_at_least({a}, {b}, 'w')",
         "hull_distance_at_most({a}, {b}, 'w')", "norm_at_most({a}, {b}, 1, 'w')", "implies({a}, {b})",
         "sign({a}) == sign({b})", "not ({a})", "-({a})", "({a}) if ({b}) else ({a})", "({a}) and ({b})",
         "[i for i in {a}]", "(lambda: {a})", "dot({a}, {b})", "(({a}) ** 4096) ** 4096",
         "sum([({a}) ** i for i in range(3)])", "(x := {a})", "f({a})", "x.{a}")


def formula(rng: Random, depth: int = 3) -> str:
    """A text in or near the formula language."""
    if depth == 0 or rng.randrange(5) == 0:
        return rng.choice(ATOMS)
    return rng.choice(WRAPS).replace("{a}", formula(rng, depth - 1)).replace("{b}", formula(rng, depth - 1))


def strange_value(rng: Random, depth: int = 2) -> object:
    """A JSON value near those of certificates."""
    match rng.randrange(8 if depth else 4):
        case 0 | 1:
            return deepcopy(rng.choice(NUMBERS))  # some are lists, which later changes would put into themselves
        case 2:
            return formula(rng)
        case 3:
            return rng.choice(("a" * 64, "cert", "", "\ud800", "é", "x", "true", "evidence", "refuted", "instances",
                               "derivation", "cover", "sampling"))
        case 4 | 5:
            return [strange_value(rng, depth - 1) for _ in range(rng.randrange(4))]
        case 6:
            names = ("x", "y", "w", "normal", "weights", "basis", "left", "sidecar", "values")
            return {rng.choice(names): strange_value(rng, depth - 1) for _ in range(rng.randrange(3))}
        case _:
            return rng.choice((None, True, 0, 1.5, 10**30, float("nan")))


def places(node: object, path: tuple = ()) -> list[tuple]:
    """The path of every node below the top of a JSON value."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [item for key, child in children for item in ((*path, key), *places(child, (*path, key)))]


def change_json(rng: Random, value: dict) -> dict:
    """A few nodes replaced, removed, doubled or, where they are formulas, rewritten."""
    value = json.loads(json.dumps(value))
    for _ in range(rng.randint(1, 3)):
        found = places(value)
        if not found:
            break
        path = rng.choice(found)
        holder = value
        for key in path[:-1]:
            holder = holder[key]
        match rng.randrange(6):
            case 0:
                del holder[path[-1]]
            case 1 if isinstance(holder, list):
                holder.append(holder[path[-1]])
            case 2 if isinstance(holder, dict):
                holder[rng.choice(("x", "kind", "extra", "minimum"))] = holder[path[-1]]
            case 3 if isinstance(holder[path[-1]], str):
                holder[path[-1]] = formula(rng)
            case 4 if isinstance(holder[path[-1]], list):
                rng.shuffle(holder[path[-1]])
            case _:
                holder[path[-1]] = strange_value(rng)
    return value


def dumped(rng: Random, value: object) -> bytes:
    """JSON as the format wants it, or nearly."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=rng.randrange(8) == 0)
    return text.encode("utf-8", "surrogatepass")


def certificate_folder(rng: Random, folder: Path, base: dict[str, bytes]) -> None:
    """Fill `folder` with a valid claim's files, changed.

    The certificates follow the claim's new digest, so that the change is looked at and not only noticed.
    """
    files = {name: raw for name, raw in base.items() if not name.startswith("cert-") or rng.randrange(3) == 0}
    claim = json.loads(files["claim.json"])
    if rng.randrange(2):
        claim = change_json(rng, claim)
    files["claim.json"] = dumped(rng, claim)
    try:
        fresh = digest(claim)
    except Exception:  # not canonical any more: then no digest fits
        fresh = "0" * 64
    for name in [name for name in files if name.startswith("cert-")]:
        certificate = {**json.loads(files[name]), "claim_digest": fresh}
        files[name] = dumped(rng, change_json(rng, certificate) if rng.randrange(2) else certificate)
    if rng.randrange(4) == 0:
        name = rng.choice(sorted(files))
        deep = b'{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}"
        files[name] = rng.choice((mutated(rng, files[name]), b"", b"{" * 100_000, deep,
                                  files[name].replace(b'{"', b'{"a":"","a":"","', 1), b"\xff\xfe", b"null",
                                  b"9" * 10_000, b'{"a":1e999999999}'))
    folder.mkdir(parents=True, exist_ok=True)
    for name, raw in files.items():
        (folder / name).write_bytes(raw)
    if rng.randrange(6) == 0:
        path = folder / rng.choice((*sorted(files), "cert-more.json"))
        path.unlink(missing_ok=True)
        strange_place(rng, path)


def sound_claim() -> dict[str, bytes]:
    """One small valid claim with certificates of most kinds, as `verify` would write them."""
    part = {"name": "p", "text": "squares", "quantifier": "forall",
            "variables": [{"name": "x", "type": "scalar", "shape": []},
                          {"name": "y", "type": "vector", "shape": ["n"]}],
            "parameters": [], "constants": {"z": "2"}, "definitions": [["s", "sum(e * e for e in y)"]],
            "hypotheses": [{"name": "h", "text": "h", "formula": "x == s"}],
            "conclusions": ["x >= 0", "sqrt(x) + z > 0 or x < 0"],
            "attainment": "x == 0", "formal": {}}
    part["variables"].append({"name": "z", "type": "scalar", "shape": []})
    symbolic = {"name": "q", "text": "bounded", "quantifier": "forall", "variables": [],
                "parameters": [{"name": "a", "minimum": ["1", "1"], "open_min": "true"},
                               {"name": "b", "minimum": "0", "maximum": "1"}],
                "constants": {}, "definitions": [["c", "a * a + b"]], "hypotheses": [],
                "conclusions": ["c > 1", "a * a - b > 0"], "attainment": "", "formal": {}}
    box = {**symbolic, "name": "r", "parameters": [{"name": "b", "minimum": "0", "maximum": "1"}], "definitions": [],
           "conclusions": ["exp(b) > b"]}
    hull = {"name": "t", "text": "hull", "quantifier": "exists",
            "variables": [{"name": "m", "type": "matrix", "shape": ["T", "d"]}], "parameters": [],
            "constants": {}, "definitions": [], "hypotheses": [],
            "conclusions": ["separable(m, 'w')", "hull_distance_at_least(m, 1, 'w')", "norm_at_most(m, 1, 9, 'v')"],
            "attainment": "", "formal": {}}
    variant = {**part, "name": "v", "conclusions": ["x > 0"], "operator": "trap"}
    claim = {"schema": "sinkproof/claim/1", "id": "MINE", "title": "t", "family": "own", "statement": "s",
             "source": "own", "uses": [], "scope_notes": [], "parts": [part, symbolic, box, hull],
             "variants": [variant]}

    def certificate(target: str, role: str, kind: str, body: dict, subject: str = "") -> bytes:
        return canonical({"schema": "sinkproof/certificate/1", "claim": "MINE", "claim_digest": digest(claim),
                          "target": target, "role": role, "subject": subject, "kind": kind, "engine": "fuzz",
                          "body": body})

    def instance(x: object, y: list, **witnesses: dict) -> dict:
        return {"values": {"x": x, "y": y}, "witnesses": witnesses}

    identity = [["1", "0"], ["0", "1"]]
    return {
        "claim.json": canonical(claim),
        "cert-a.json": certificate("p", "evidence", "instances",
                                   {"instances": [instance("5", ["1", "2"]),
                                                  instance(["1", "4"], ["0x1.0000000000000p-1"])]}),
        "cert-b.json": certificate("p", "satisfiable", "instances", {"instances": [instance("1", ["1"])]}),
        "cert-c.json": certificate("p", "attained", "instances", {"instances": [instance("0", ["0"])]}),
        "cert-d.json": certificate("p", "dropped", "counterexample", {"instances": [instance("-1", ["1"])]}, "h"),
        "cert-e.json": certificate("v", "refuted", "counterexample", {"instances": [instance("0", ["0"])]}),
        "cert-f.json": certificate("q", "evidence", "derivation", {"lemmas": [
            {"formula": "c > 1", "by": "orthant"}, {"formula": "a * a - b > 0", "by": "orthant"}]}),
        "cert-g.json": certificate("r", "evidence", "cover", {"splits": ["b", "leaf", "leaf"]}),
        "cert-h.json": certificate("p", "evidence", "sampling", {"trials": "1000", "probability_at_most": ["1", "100"],
                                                                 "confidence": ["99", "100"]}),
        "cert-i.json": certificate("p", "evidence", "search", {"examples": "7"}),
        "cert-j.json": certificate("p", "evidence", "float", {"residual": "0", "tolerance": "0x1.12e0be826d695p-30",
                                                              "cases": "3"}),
        "cert-k.json": certificate("t", "evidence", "instances", {"instances": [
            {"values": {"m": [["1", "1"], ["1", "2"]]}, "witnesses": {
                "w": {"normal": ["1", "1"]}, "v": {"left": identity, "values": ["3", "1"], "right": identity}}}]}),
    }
