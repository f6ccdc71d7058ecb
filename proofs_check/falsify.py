"""Search for a counterexample to a claim, or to a claim without one of its hypotheses; shrink it, replay it, keep it.

Arms, in this order: counterexamples saved by earlier runs; constructed instances (built-in and drawn by hypothesis) and
their generic changes, repaired and pushed past what is dropped; an optimiser on the numerical slack; independent samples,
which alone carry a probability bound.  Nothing is reported as refuted that the kernel has not replayed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import ceil
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase, settings

from proofs_check.certificates import certificate, instances_body, whole_directory, write_claim
from proofs_check.claim import Claim, Instance, Part, plain_type
from proofs_check.descent import descend
from proofs_check.kernel import digest, read_json, replay
from proofs_check.kernel.encoding import Rejected, read_value
from proofs_check.perturb import Values, perturbed, size_of, smaller
from proofs_check.probing import ERRORS, Answer, Probe

CONFIDENCE = Fraction(95, 100)
LARGEST_POOL = 160
LARGEST_ENTRIES = 60  # a base instance with more numbers than this is slow to change and hard to read
SHRINKS = 400


@dataclass(frozen=True)
class Attack:
    """One part, with one hypothesis dropped or none, attacked with a budget.

    `outcome` is "refuted" (with the certificate that the kernel replayed), "suspect" (a float violation of `margin` that
    no exact instance confirmed) or "nothing found".  `samples` independent trials without a violation bound its
    probability under that sampling by `bound` at 95% (the rule of three: about 3/samples); None where there were none.
    """

    claim: str
    part: str
    subject: str
    outcome: str
    arm: str = ""
    tried: int = 0
    met: int = 0
    samples: int = 0
    bound: float | None = None
    margin: float | None = None
    instance: Instance | None = None
    certificate: dict | None = None


def targets(claim: Claim, drop: str | None = None, part: str | None = None) -> list[tuple[Part, str]]:
    """(part, dropped hypothesis or "") to attack; ValueError names what there is when a name is unknown."""
    parts = [item for item in claim.parts if part in (None, item.name)]
    if not parts:
        raise ValueError(f"expected a part of {claim.id}, got {part!r}; its parts are {_listed(item.name for item in claim.parts)}")
    parts = [item for item in parts if item.quantifier == "forall" and "cloud" not in item.variables.values()]
    if drop is None:
        return [(item, "") for item in parts]
    found = [(item, drop) for item in parts if drop in {hypothesis.name for hypothesis in item.hypotheses}]
    if not found:
        known = dict.fromkeys(hypothesis.name for item in parts for hypothesis in item.hypotheses)
        raise ValueError(f"expected a hypothesis of {claim.id} to drop, got {drop!r}; choose from {_listed(known)}")
    return found


def _listed(names) -> str:
    return ", ".join(repr(name) for name in names) or "none"


def attack(claim: Claim, part: Part, subject: str, budget: int, seed: int = 0, saved: Sequence[dict] = ()) -> Attack:
    """Run the arms until one hits; raises ValueError for a budget below 1."""
    if budget < 1:
        raise ValueError(f"expected a budget of at least 1 instance, got {budget}; give a positive number")
    document = claim.document()
    statement = next(table for table in document["parts"] if table["name"] == part.name)
    run = _Run(claim, part, document, Probe(part, statement, subject), random.Random(f"{seed} {claim.id} {part.name} {subject}"))
    hit = run.saved(saved) or run.changed(budget, seed) or run.descended(budget // 4) or run.sampled(budget // 4, seed)
    if hit is not None:
        return hit
    bound = None
    if run.samples:
        bound = 1.0 - float(1 - CONFIDENCE) ** (1.0 / run.samples)
        bound = ceil(bound * 1e6) / 1e6
    return run.attack("nothing found" if run.margin is None else "suspect", "" if run.margin is None else "optimiser", bound=bound)


class _Run:
    """The state of one attack: how much was tried, what met the hypotheses, the base instances."""

    def __init__(self, claim: Claim, part: Part, document: dict, probe: Probe, rng: random.Random):
        self.claim, self.part, self.document, self.probe, self.rng = claim, part, document, probe, rng
        self.tried = self.met = self.samples = 0
        self.margin: float | None = None
        self.pool: list[Values] = []
        self.beyond: list[Values] = []  # meet everything kept, and violate what is dropped
        self.whole = Probe(part, probe.statement) if probe.subject else probe

    def attack(self, outcome: str, arm: str, **more: object) -> Attack:
        return Attack(self.claim.id, self.part.name, self.probe.subject, outcome, arm, self.tried, self.met, self.samples,
                      margin=self.margin, **more)

    def judge(self, values: Values) -> Answer:
        self.tried += 1
        answer = self.probe.judge(values)
        self.met += answer.meets is True
        return answer

    def hit(self, values: Values, arm: str) -> Attack | None:
        """Shrink, replay with the kernel, and report; None when the kernel does not agree."""
        for candidate in (self.shrunk(values), values):
            answer = self.probe.judge(candidate)
            instance = self.probe.instance(candidate, answer.witnesses)
            role = "dropped" if self.probe.subject else "refuted"
            item = certificate(self.claim, self.part.name, role, "counterexample", "falsify",
                               instances_body(self.part, [instance]), self.probe.subject)
            try:
                replay(self.document, item, Path())
            except Rejected:
                continue
            return self.attack("refuted", arm, instance=instance, certificate=item)
        return None

    def shrunk(self, values: Values) -> Values:
        left, size = SHRINKS, size_of(values, self.probe.free)
        improved = True
        while improved and left > 0:
            improved = False
            for candidate in smaller(values, self.probe.free):
                left -= 1
                if left <= 0:
                    break
                # what a simpler entry breaks, other entries may mend
                for mended in (candidate, self.probe.moved(candidate, self.rng)):
                    if mended is not None and size_of(mended, self.probe.free) < size and self.probe.judge(mended).refutes():
                        values, size, improved = mended, size_of(mended, self.probe.free), True
                        break
                if improved:
                    break
        return values

    def saved(self, items: Sequence[dict]) -> Attack | None:
        """Values kept by earlier runs, whatever version of the claim they were found for."""
        for item in items:
            if (item.get("target"), item.get("subject")) != (self.part.name, self.probe.subject):
                continue
            try:
                table = item["body"]["instances"][0]["values"]
                values = {name: read_value(table[name], plain_type(kind), Path(), name) for name, kind in self.probe.free.items()}
            except ERRORS:
                continue
            if self.judge(values).refutes() and (hit := self.hit(values, "saved")):
                return hit
        return None

    def constructed(self, budget: int, seed: int) -> Iterator[Values]:
        """The instances that the claim knows how to construct; the ledger's counterexamples are not among them."""
        sources = [item for item in (self.part.satisfiable, self.part.attained) if item is not None]
        if self.part.instances is not None:
            sources += islice(self.part.instances(seed), 40)
        if self.part.strategy is not None:
            sources += drawn(self.part.strategy(), min(max(budget // 10, 1), 40), seed)
        for instance in sources:
            try:
                yield self.probe.read(instance)
            except ERRORS:
                continue

    def changed(self, budget: int, seed: int) -> Attack | None:
        """Constructed instances, then changes of them until the budget is spent."""
        start = self.tried
        for values in self.constructed(budget, seed):
            if self.tried - start >= budget:
                return None
            if hit := self.consider(values, "constructed instances"):
                return hit
        if not self.pool:
            return None
        self.pool.sort(key=lambda values: size_of(values, self.probe.free))
        while self.tried - start < budget:
            base = self.base()
            draw = self.rng.random()
            if draw < 0.25 and self.probe.dropped:
                candidate = self.probe.moved(base, self.rng, self.probe.dropped)
            elif draw < 0.45 and self.probe.aims:
                candidate = self.probe.moved(base, self.rng, self.probe.aims)
            else:
                candidate = perturbed(base, self.probe.free, self.rng)
            if candidate is None:
                self.tried += 1
                continue
            if hit := self.consider(candidate, "changed instances", repair=True):
                return hit
        return None

    def base(self) -> Values:
        """Half of the time an instance beyond the dropped hypothesis, if there is one; small ones more often."""
        pool = self.beyond if self.beyond and self.rng.random() < 0.5 else self.pool
        return pool[int(len(pool) * self.rng.random() ** 2)]

    def consider(self, values: Values, arm: str, repair: bool = False) -> Attack | None:
        answer = self.judge(values)
        if answer.refutes() and (hit := self.hit(values, arm)):
            return hit
        if answer.meets is True:
            self.keep(values)
        elif repair:
            moved = self.probe.moved(values, self.rng)
            if moved is not None:
                return self.consider(moved, arm)
        return None

    def keep(self, values: Values) -> None:
        if size_of(values, self.probe.free)[0] > LARGEST_ENTRIES and self.pool:
            return
        beyond = bool(self.probe.subject) and self.whole.judge(values).meets is False
        target = self.beyond if beyond else self.pool
        if len(target) < LARGEST_POOL:
            target.append(values)
        else:
            target[self.rng.randrange(LARGEST_POOL // 2, LARGEST_POOL)] = values

    def descended(self, budget: int) -> Attack | None:
        """Several starts; a violation in floats that no rounding confirms is kept as a suspect with its margin."""
        start = self.tried
        pool = [values for values in (*self.beyond, *self.pool) if size_of(values, self.probe.free)[0] <= LARGEST_ENTRIES]
        while pool and self.part.numeric is not None and self.tried - start < budget:
            found = descend(self.probe, self.rng.choice(pool), self.rng, max(10, min(budget // 2, 200)))
            self.tried += max(found.evaluations, 1)
            if found.answer is not None and (hit := self.hit(found.values, "optimiser")):
                return hit
            if found.feasible and not self.probe.subject:
                self.margin = min(found.slack, self.margin or 0.0)
        return None

    def sampled(self, budget: int, seed: int) -> Attack | None:
        """Independent draws: a built-in instance by chance of a seed by chance, changed by chance where one is dropped."""
        if self.part.instances is None:
            return None
        for _ in range(budget):
            family = list(islice(self.part.instances(self.rng.randrange(2**31)), 60))
            values = self.rng.choice(family)
            try:
                values = self.probe.read(values)
            except ERRORS:
                continue
            if self.probe.subject:
                values = perturbed(values, self.probe.free, self.rng)
            answer = self.judge(values)
            if answer.refutes() and (hit := self.hit(values, "independent samples")):
                return hit
            self.samples += answer.meets is True and answer.concludes is True
        return None


def drawn(strategy, count: int, seed: int) -> list[Instance]:
    """Instances that hypothesis draws."""
    found: list[Instance] = []

    @hypothesis.seed(seed)
    @settings(max_examples=count, deadline=None, database=None, phases=(Phase.generate,),
              suppress_health_check=list(HealthCheck), verbosity=hypothesis.Verbosity.quiet)
    @hypothesis.given(strategy)
    def collect(instance: Instance) -> None:
        found.append(instance)

    collect()
    return found


def read_saved(directory: Path) -> list[dict]:
    """Certificates of counterexamples kept in a claim's folder; what cannot be read is passed over."""
    found = []
    for path in sorted(directory.glob("cert-*.json")):
        try:
            found.append(read_json(path))
        except Rejected:
            continue
    return found


def save(claim: Claim, attacks: Sequence[Attack], directory: Path) -> list[str]:
    """Put the new counterexamples beside the old ones of the same statement; returns the file names."""
    now = digest(claim.document())
    items = {(item["target"], item["subject"]): item for item in read_saved(directory) if item.get("claim_digest") == now}
    items.update({(item.part, item.subject): item.certificate for item in attacks if item.certificate is not None})
    if not items:
        return []
    with whole_directory(directory) as fresh:
        return write_claim(fresh, claim, list(items.values()))
