"""The trusted part: reads a claim and a certificate, replays it exactly, and says what is established.

It imports the standard library and python-flint and nothing else.  Whoever accepts its answers trusts

* the files of this package (values, functions, formula and symbolic carry the mathematics) and the Python interpreter;
* python-flint: exact rational and polynomial arithmetic, and ball arithmetic that encloses;
* that the formulas of `claim.json` say what the claim's words say: read them, they are a few lines each;
* for certificates of kind `formal` alone: that the recorded build of the named sources took place (the kernel checks
  sources, names and the assumptions' text; rebuilding needs Rocq and the gate in `proofs_check/formal`), and that the
  pinned theorem states what the part states (both stand side by side in notes/<ID>.md; nothing compares them);
* for `search`, `sampling` and `float`, which prove nothing: the record's own account of the run.

It does not trust sympy, numpy, jax, cvxpy, any solver's status, or the certificate's own account of what it proves.
"""

from proofs_check.kernel.encoding import Malformed, Rejected, canonical, digest, read_json, write_number
from proofs_check.kernel.replay import (CERTIFICATE_SCHEMA, CLAIM_SCHEMA, GRADES, Replayed, bound_names, replay,
                                        replay_files)

__all__ = ["CERTIFICATE_SCHEMA", "CLAIM_SCHEMA", "GRADES", "Malformed", "Rejected", "Replayed", "bound_names",
           "canonical", "digest", "read_json", "replay", "replay_files", "write_number"]
