"""Two routes to one answer: the kernel's exact evaluation and the slack computed by `numerics`.

What is compared is the answer: the kernel says whether the conclusions hold, and the sign of the slack (how far they
are from failing, in float64) must not contradict it by more than `TOLERANCE`.  The slack's size is compared with
nothing, because the kernel evaluates statements and has no slack of its own; a part that states an equality gets the
comparison of values by a slack of minus the absolute difference.
"""

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
    # the messages name no number, so that the same trouble on many instances can be counted
    if math.isnan(slack):
        found.troubles.append(Trouble(part.name, "error", f"part '{part.name}': the numerical route returned NaN"))
    elif (concludes and slack < -TOLERANCE) or (not concludes and slack > TOLERANCE):
        said = f"hold, the numerical slack is below -{TOLERANCE:g}" if concludes else \
            f"fail, the numerical slack is above {TOLERANCE:g}"
        found.troubles.append(Trouble(part.name, "disagreement",
                                      f"part '{part.name}': exact evaluation says the conclusions {said}"))
    else:
        slacks.append(slack)
