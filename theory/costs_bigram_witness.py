"""C9: rational primal and dual matrices for the nuclear cost of inverse bigram copying with self as default.

For k cycles of length l (n = l k) the constraints M_{i,pi(i)} - M_ii >= 1, M_ii - M_ij >= 1 are kept by the
centraliser of pi, and so is the nuclear norm: it suffices to look at

    primal   M = I_k ⊗ C + (11^T - I)_k ⊗ y 11^T,  C = sum_j c_j P^j circulant,
             c_1 - c_0 >= 1,  c_0 - c_j >= 1 for 2 <= j < l,  c_0 - y >= 1 if k >= 2;
    dual     G = sum lambda_ij e_i (e_a - e_b)^T, multipliers alpha on the target, gamma_j on offset j,
             gamma' on the tokens of other cycles, all >= 0; objective n (alpha + sum gamma_j + (k-1) l gamma').

Both are normal, so their singular values are the moduli of their eigenvalues.  With w = exp(2 pi i/l),
c^(z) = sum c_j z^j, own = -alpha + sum gamma_j + (k-1) l gamma', and t = 1..l-1 counted k times each:

    M: |c^(w^t)|;  |c^(1) - l y| (k-1 times);  |c^(1) + (k-1) l y| once;
    G: |own + alpha w^t - sum gamma_j w^(t j)|;  n gamma' (k-1 times);  0 once.

The search below works in decimal arithmetic and is believed nowhere: what leaves this file is rational and
feasible by construction, and only its eigenvalues are left to enclose.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

DIGITS = 28
ENTERING = 3  # offsets that may leave their bound in one Newton step
SMOOTHINGS = 4  # mu runs through 10^-1 .. 10^-4
_RESOLUTION = 10**12


@dataclass(frozen=True)
class CirculantWitness:
    """Primal (c, y) and dual (alpha, gamma_2..gamma_{l-1}, cross) as rationals in text, for k cycles of
    length l."""

    length: int
    cycles: int
    circulant: tuple[str, ...]
    cross_entry: str
    target: str
    others: tuple[str, ...]
    cross: str

    @property
    def tokens(self) -> int:
        return self.length * self.cycles


def witness(length: int, cycles: int = 1) -> CirculantWitness:
    """Near-optimal feasible primal and dual for `cycles` cycles of the given length (C9).

    Raises ValueError when there is no permutation of that kind without fixed points.
    """
    if not (length >= 2 and cycles >= 1):
        raise ValueError(
            f"expected cycles of length >= 2 and at least one, got {length} and {cycles}; a 1-cycle is fixed"
        )
    with localcontext() as context:
        context.prec = DIGITS
        problem = _Problem(length, cycles)
        slack = problem.minimise()
        return problem.rational(slack)


class _Problem:
    """min over slacks a >= 0 of k sum_{t>=1} |f(w^t)| + (k-1) |f(1)|,  f(z) = 1 + 2z - sum_{j>=2} a_j z^j.

    The minimiser may have f(w^t) = 0 at some t, where |f| has a kink; sqrt(|f|² + mu²) with falling mu
    replaces it, and f/sqrt(|f|² + mu²), of modulus below 1, is the dual's eigenvalue.
    """

    def __init__(self, length: int, cycles: int):
        self.l, self.k = length, cycles
        circle = _roots_of_unity(length)
        half = [t for t in range(length) if 2 * t <= length]
        self.weights = [Decimal(cycles - 1)] + [
            Decimal(2 * cycles if 2 * t < length else cycles) for t in half[1:]
        ]
        self.powers = [[circle[t * j % length] for j in range(length)] for t in half]
        self.mu_square = Decimal(0)

    def radius(self, x: Decimal, y: Decimal) -> Decimal:
        return (x * x + y * y + self.mu_square).sqrt()

    def values(self, slack: dict[int, Decimal]) -> list[tuple[Decimal, Decimal]]:
        result = []
        for powers in self.powers:
            x = 1 + 2 * powers[1 % self.l][0] - sum(a * powers[j][0] for j, a in slack.items())
            y = 2 * powers[1 % self.l][1] - sum(a * powers[j][1] for j, a in slack.items())
            result.append((x, y))
        return result

    def objective(self, slack: dict[int, Decimal]) -> Decimal:
        return sum(w * self.radius(x, y) for w, (x, y) in zip(self.weights, self.values(slack)))

    def polar(self, slack: dict[int, Decimal]) -> list[tuple[Decimal, Decimal]]:
        values = self.values(slack)
        return [(x / m, y / m) for (x, y), m in zip(values, (self.radius(x, y) for x, y in values))]

    def pairing(self, unit: list[tuple[Decimal, Decimal]], weights: list[Decimal], j: int) -> Decimal:
        """sum_t weight_t Re(conj(unit_t) w^(t j))."""
        return sum(
            (w * (x * p[j][0] + y * p[j][1]) for w, (x, y), p in zip(weights, unit, self.powers)), Decimal(0)
        )

    def minimise(self) -> dict[int, Decimal]:
        slack: dict[int, Decimal] = {}
        for exponent in range(1, SMOOTHINGS + 1):
            self.mu_square = Decimal(100) ** -exponent
            slack = self._newton(slack)
        return slack

    def _newton(self, slack: dict[int, Decimal]) -> dict[int, Decimal]:
        """Projected Newton with backtracking, until every offset meets its sign condition to 1e-12."""
        tolerance = Decimal("1e-12")
        for _ in range(60):
            unit = self.polar(slack)
            gradient = {j: -self.pairing(unit, self.weights, j) for j in range(2, self.l)}
            waiting = sorted(
                (j for j in gradient if j not in slack and gradient[j] < -tolerance), key=gradient.get
            )
            if not waiting and all(abs(gradient[j]) <= tolerance for j in slack):
                break
            free = [*slack, *waiting[:ENTERING]]
            step = self._newton_step(slack, free, gradient)
            while any(j not in slack and step[j] <= 0 for j in free):  # an offset at its bound may only grow
                free = [j for j in free if j in slack or step[j] > 0]
                step = self._newton_step(slack, free, gradient)
            slack, moved = self._backtrack(slack, free, gradient, step)
            if not moved:
                break
        return slack

    def _newton_step(
        self, slack: dict[int, Decimal], free: list[int], gradient: dict[int, Decimal]
    ) -> dict[int, Decimal]:
        size = len(free)
        hessian = [[Decimal(0)] * size for _ in range(size)]
        for weight, (x, y), powers in zip(self.weights, self.values(slack), self.powers):
            scale = weight / self.radius(x, y) ** 3
            across = [x * powers[j][1] - y * powers[j][0] for j in free]
            for a, i in enumerate(free):
                for b in range(a + 1):
                    j = free[b]
                    inner = powers[i][0] * powers[j][0] + powers[i][1] * powers[j][1]
                    hessian[a][b] += scale * (across[a] * across[b] + self.mu_square * inner)
        for a in range(size):
            hessian[a][a] += Decimal("1e-9")
            for b in range(a):
                hessian[b][a] = hessian[a][b]
        return dict(zip(free, _solve(hessian, [-gradient[j] for j in free])))

    def _backtrack(
        self,
        slack: dict[int, Decimal],
        free: list[int],
        gradient: dict[int, Decimal],
        step: dict[int, Decimal],
    ) -> tuple[dict[int, Decimal], bool]:
        start, length = self.objective(slack), Decimal(1)
        while length > Decimal("1e-9"):
            moved = {j: max(Decimal(0), slack.get(j, Decimal(0)) + length * step[j]) for j in free}
            moved = {j: a for j, a in moved.items() if a > 0}
            decrease = sum(gradient[j] * (moved.get(j, Decimal(0)) - slack.get(j, Decimal(0))) for j in free)
            if decrease < 0 and self.objective(moved) <= start + decrease / 1000:
                return moved, True
            length /= 2
        return slack, False

    def rational(self, slack: dict[int, Decimal]) -> CirculantWitness:
        """Round the slacks down to rationals, shift one cycle's global eigenvalue to 0, and read off the
        dual.

        With g the Fourier coefficients of the polar part and tau = g(1) >= 0 (0 for one cycle), the
        multipliers are gamma_j = tau/n - g_j, clipped at 0, alpha = g_1 - tau/n and gamma' = tau/n:
        nonnegative whatever the rounding.
        """
        n = self.l * self.k
        amounts = {j: Fraction(int(a * _RESOLUTION), _RESOLUTION) for j, a in slack.items()}
        entries = [Fraction(1), Fraction(2)] + [-amounts.get(j, Fraction(0)) for j in range(2, self.l)]
        shift = -sum(entries, Fraction(0)) / n  # makes the all-ones eigenvalue exactly 0
        circulant = tuple(str(c + shift) for c in entries)
        unit = self.polar(slack)
        trivial = max(Decimal(0), unit[0][0]) if self.k > 1 else Decimal(0)
        weights = [w / self.k for w in self.weights]
        unit[0], weights[0] = (trivial, Decimal(0)), Decimal(1)
        g = [_round(self.pairing(unit, weights, j) / self.l) for j in range(self.l)]
        floor = _round(trivial) / n
        return CirculantWitness(
            length=self.l,
            cycles=self.k,
            circulant=circulant,
            cross_entry=str(shift) if self.k > 1 else "0",
            target=str(max(Fraction(0), g[1] - floor)),
            others=tuple(str(max(Fraction(0), floor - g[j])) for j in range(2, self.l)),
            cross=str(floor) if self.k > 1 else "0",
        )


def _round(value: Decimal) -> Fraction:
    return Fraction(round(value * _RESOLUTION), _RESOLUTION)


def _solve(matrix: list[list[Decimal]], right: list[Decimal]) -> list[Decimal]:
    """Gaussian elimination for a positive definite matrix."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for a in range(size):
        for b in range(a + 1, size):
            ratio = rows[b][a] / rows[a][a]
            if ratio:
                rows[b] = [y - ratio * x for x, y in zip(rows[a], rows[b])]
    result = [Decimal(0)] * size
    for a in reversed(range(size)):
        result[a] = (rows[a][size] - sum(rows[a][b] * result[b] for b in range(a + 1, size))) / rows[a][a]
    return result


def _roots_of_unity(order: int) -> list[tuple[Decimal, Decimal]]:
    """(cos, sin) of 2 pi j/order, by Machin's formula for pi and the exponential series for the first
    root."""

    def arctangent_of_inverse(x: int) -> Decimal:
        return sum(
            (Decimal((-1) ** i) / ((2 * i + 1) * Decimal(x) ** (2 * i + 1)) for i in range(40)), Decimal(0)
        )

    angle = 8 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239)) / order
    cosine, sine, term = Decimal(0), Decimal(0), Decimal(1)
    for i in range(60):
        if i % 2 == 0:
            cosine += term if i % 4 == 0 else -term
        else:
            sine += term if i % 4 == 1 else -term
        term *= angle / (i + 1)
    points = [(Decimal(1), Decimal(0))]
    for _ in range(order - 1):
        x, y = points[-1]
        points.append((x * cosine - y * sine, x * sine + y * cosine))
    return points
