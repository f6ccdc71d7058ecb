"""Two routes to one answer: the kernel's exact evaluation and the slack computed by `numerics`."""

from __future__ import annotations

import math

from proofs_check.claim import Instance, Part
from proofs_check.engines.gathering import Gathered, to_float
from proofs_check.verdict import Trouble

# A slack this far on the wrong side of zero is a disagreement, not rounding, for instances of moderate size.
TOLERANCE = 1e-7


def compare_routes(part: Part, instance: Instance, concludes: bool, found: Gathered, slacks: list[float]) -> None:
    """Append the numerical slack, or a trouble when the two routes say different things."""
    if part.numeric is None:
        return
    slack = float(part.numeric(to_float(part, instance)))
    if math.isnan(slack):
        found.troubles.append(Trouble(part.name, "error", f"part '{part.name}': the numerical route returned NaN"))
    elif (concludes and slack < -TOLERANCE) or (not concludes and slack > TOLERANCE):
        found.troubles.append(Trouble(part.name, "disagreement",
                                      f"part '{part.name}': exact evaluation says the conclusions "
                                      f"{'hold' if concludes else 'fail'}, the numerical slack is {slack:.3g}"))
    else:
        slacks.append(slack)
