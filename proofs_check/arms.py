"""The arms of an attack, each of which can be run by itself.

They are: what the claim constructs, what hypothesis draws, what is put together by machine, changes of these, an
optimiser on the slack, and independent samples.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase, settings

from proofs_check.bases import assembled, constructed, from_domain
from proofs_check.certificates import certificate, instances_body
from proofs_check.claim import Claim, Instance, Part, plain_type
from proofs_check.descent import descend
from proofs_check.kernel import replay
from proofs_check.kernel.encoding import Rejected, read_value
from proofs_check.perturb import Values, axes, perturbed, removed, size_of, smaller
from proofs_check.probing import ERRORS, Answer, Probe

LARGEST_POOL = 160
LARGEST_ENTRIES = 60  # a base instance with more numbers than this is slow to change and hard to read
SHRINKS = 400
ENOUGH = 10  # base instances
REDUCED = 4  # of them made smaller
CONSTRUCTED = 40  # built-in instances, and as many draws at most
SAMPLED_FROM = 60


@dataclass(frozen=True)
class Attack:
    """One part, with one hypothesis dropped or none, attacked with a budget.

    `outcome` is "refuted" (with the certificate that the kernel replayed), "suspect" (a float violation of `margin`
    that no exact instance confirmed) or "nothing found".  `samples` independent trials without a violation bound its
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


class Run:
    """The state of one attack: how much was tried, what met the hypotheses, the base instances.

    `part` is a part of the claim, with the hypothesis or bound `subject` dropped, or the statement of a false variant.
    """

    def __init__(self, claim: Claim, part: Part, subject: str = "", seed: int = 0):
        self.claim, self.part, self.document = claim, part, claim.document()
        statement = next(table for table in self.document["parts"] + self.document["variants"]
                         if table["name"] == part.name)
        self.probe = Probe(part, statement, subject)
        self.whole = Probe(part, statement) if subject else self.probe
        self.rng = random.Random(f"{seed} {claim.id} {part.name} {subject}")
        self.seed = seed
        self.tried = self.met = self.samples = 0
        self.reporting, self.shrinks = True, SHRINKS
        self.margin: float | None = None
        self.pool: list[Values] = []
        self.beyond: list[Values] = []  # meet everything kept, and violate what is dropped

    def attack(self, outcome: str, arm: str, **more: object) -> Attack:
        return Attack(self.claim.id, self.part.name, self.probe.subject, outcome, arm, self.tried, self.met,
                      self.samples, margin=self.margin, **more)

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
        left, size = self.shrinks, size_of(values, self.probe.free)
        improved = True
        while improved and left > 0:
            improved = False
            for candidate in smaller(values, self.probe.free):
                left -= 1
                if left <= 0:
                    break
                # what a simpler entry breaks, other entries may mend
                for mended in (candidate, self.probe.moved(candidate, self.rng)):
                    if mended is not None and size_of(mended, self.probe.free) < size \
                            and self.probe.judge(mended).refutes():
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
                values = {name: read_value(table[name], plain_type(kind), Path(), name)
                          for name, kind in self.probe.free.items()}
            except ERRORS:
                continue
            if self.judge(values).refutes() and (hit := self.hit(values, "saved")):
                return hit
        return None

    def built_in(self, budget: int) -> Attack | None:
        """What the part names or builds for itself."""
        return self.tell(constructed(self.part, self.seed, CONSTRUCTED), budget, "built-in instances")

    def searched(self, budget: int) -> Attack | None:
        """What hypothesis draws from the part's strategy."""
        if self.part.strategy is None:
            return None
        count = min(max(budget // 10, 1), CONSTRUCTED)
        return self.tell(drawn(self.part.strategy(), count, self.seed), budget, "drawn instances")

    def tell(self, instances: Iterable[Instance], budget: int, arm: str) -> Attack | None:
        for instance in islice(instances, budget):
            try:
                values = self.probe.read(instance)
            except ERRORS:
                continue
            if hit := self.consider(values, arm):
                return hit
        return None

    def assembled(self, budget: int) -> Attack | None:
        """Small instances put together variable by variable, repaired."""
        try:
            for values in islice(assembled(self.claim, self.probe, self.rng), budget):
                if hit := self.consider(values, "assembled instances", repair=True):
                    return hit
        except Rejected:  # a variable of a type of which nothing can be drawn
            pass
        return None

    def fill(self, budget: int) -> None:
        """Base instances for the arms that need some, whatever they are instances of."""
        arms, self.reporting = (self.built_in, self.searched, self.assembled), False
        try:
            for arm in arms:
                if len(self.pool) + len(self.beyond) < ENOUGH:
                    arm(budget)
        finally:
            self.reporting = True

    def changed(self, budget: int) -> Attack | None:
        """Changes of the base instances until the budget is spent."""
        start = self.tried
        self.reduce()
        self.pool.sort(key=lambda values: size_of(values, self.probe.free))
        while (self.pool or self.beyond) and self.tried - start < budget:
            base = self.base()
            draw = self.rng.random()
            if draw < 0.25 and self.probe.dropped:
                candidate = self.probe.moved(base, self.rng, self.probe.dropped)
            elif draw < 0.45 and self.probe.aims:
                candidate = self.probe.moved(base, self.rng, self.probe.aims)
            elif draw < 0.6 and self.probe.atoms:  # ties, degenerate hulls and Grams are where an inequality is tight
                candidate = self.probe.moved(base, self.rng, onto=self.probe.atoms)
            else:
                candidate = perturbed(base, self.probe.free, self.rng)
            if candidate is None:
                self.tried += 1
                continue
            if hit := self.consider(candidate, "changed instances", repair=True):
                return hit
        return None

    def reduce(self) -> None:
        """Add base instances with fewer tokens and dimensions: quick to judge, and what is found reads well."""
        for values in sorted(self.pool, key=lambda item: size_of(item, self.probe.free))[:REDUCED]:
            going = True
            while going:
                lengths = {letter: size for _, _, letter, size in axes(values, self.probe.free) if size > 1}
                fewer = (removed(values, self.probe.free, letter, size - 1, places)
                         for letter, size in lengths.items() for places in (False, True))
                found = next((item for item in fewer if self.judge(item).meets is True), None)
                going, values = found is not None, found or values
            self.keep(values)

    def base(self) -> Values:
        """Half of the time an instance beyond the dropped hypothesis, if there is one; small ones more often."""
        pool = self.beyond if not self.pool or self.beyond and self.rng.random() < 0.5 else self.pool
        return pool[int(len(pool) * self.rng.random() ** 2)]

    def consider(self, values: Values, arm: str, repair: bool = False) -> Attack | None:
        answer = self.judge(values)
        if self.reporting and answer.refutes() and (hit := self.hit(values, arm)):
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
        pool = [values for values in (*self.beyond, *self.pool)
                if size_of(values, self.probe.free)[0] <= LARGEST_ENTRIES]
        while pool and self.probe.has_slack() and self.tried - start < budget:
            found = descend(self.probe, self.rng.choice(pool), self.rng, max(10, min(budget // 2, 200)))
            self.tried += max(found.evaluations, 1)
            if found.answer is not None and (hit := self.hit(found.values, "optimiser")):
                return hit
            if found.feasible and not self.probe.subject:
                self.margin = min(found.slack, self.margin or 0.0)
        return None

    def sampled(self, budget: int) -> Attack | None:
        """Independent draws: a built-in instance by chance of a seed by chance (or a point of the parameters' domain),
        changed by chance where something is dropped."""
        if self.part.instances is None and (self.part.variables or not self.part.parameters):
            return None
        family = self.part.instances
        length = 0 if family is None else sum(1 for _ in islice(family(self.seed), SAMPLED_FROM))
        for _ in range(budget):
            if family is None:
                values = from_domain(self.probe, self.rng)
            else:
                place = self.rng.randrange(length)  # chosen first: the instances after it need not be built
                try:
                    values = self.probe.read(next(islice(family(self.rng.randrange(2**31)), place, None)))
                except (StopIteration, *ERRORS):
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
