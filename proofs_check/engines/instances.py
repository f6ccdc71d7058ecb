"""Built-in instance families, evaluated exactly; where the part has a numerical route, both must agree."""

from __future__ import annotations

from itertools import islice

from proofs_check.blame import blame, of_instance
from proofs_check.certificates import certificate, instances_body
from proofs_check.claim import Claim, Part, encode_instance
from proofs_check.engines.agreement import TOLERANCE, compare_routes
from proofs_check.engines.gathering import Context, Gathered, examine_instance
from proofs_check.kernel import Rejected
from proofs_check.kernel.replay import instance_key, read_instance

LIMIT = {"quick": 60, "full": 400}


def instances(claim: Claim, context: Context) -> Gathered:
    """One certificate per part over its built-in instances; a violating instance becomes a counterexample."""
    found = Gathered()
    statements = {table["name"]: table for table in claim.document()["parts"]}
    for part in claim.parts:
        if part.instances is not None:
            _part(claim, part, statements[part.name], context, found)
    return found


def _part(claim: Claim, part: Part, statement: dict, context: Context, found: Gathered) -> None:
    good, seen, slacks = [], set(), []
    most = max(LIMIT[context.profile], len(part.cases))  # one for each case has to come through, however many there are
    for number, instance in enumerate(islice(part.instances(context.seed), most)):
        table = encode_instance(part, instance)
        try:
            key = instance_key(read_instance(statement, table, context.directory)[0])
        except Rejected as error:
            raise type(error)(f"part '{part.name}', instances[{number}] ({of_instance(instance)}): {error}") from error
        if key in seen:
            continue
        seen.add(key)
        meets, concludes = examine_instance(part, statement, instance, context.directory)
        if not meets:
            raise ValueError(f"expected the instances of claim {claim.id}, part '{part.name}', to meet its hypotheses, "
                             f"got instances[{number}]: {blame(statement, table, context.directory)}; "
                             "mend the instance or the hypothesis")
        compare_routes(part, instance, concludes, found, slacks)
        if not concludes:
            found.certificates.append(certificate(claim, part.name, "refuted", "counterexample", "instances",
                                                  instances_body(part, [instance])))
            return
        good.append(instance)
    if good:
        found.certificates.append(certificate(claim, part.name, "evidence", "instances", "instances",
                                              instances_body(part, good)))
    if slacks:
        residual = max(0.0, -min(slacks))
        found.certificates.append(certificate(claim, part.name, "evidence", "float", "instances", {
            "residual": residual.hex(), "tolerance": TOLERANCE.hex(), "cases": str(len(slacks))}))
