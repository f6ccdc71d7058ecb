"""C8: the order of a cost as two inequalities with constants, one derivation for each cell and pattern.

T = t² with t >= 2 (so T >= 4, over the reals) keeps square roots of T polynomial; sqrt(d) = j t^growth; h =
sqrt(1-rho). Other roots are names tied to their squares.  Logarithms are names as well: ell = log T and ell1 =
log(T-1), of which 1 <= ell <= sqrt(T) and ell/2 <= ell1 <= ell are used (log 4 > 1; log T <= sqrt T; (T-1)² >= T).

Fading tokens, rho = c T^(-decay): R = T^(-decay/2) is (1+z)/(t+z) with z >= 0, which is every number in [1/t, 1), where
decay < 1, and 1/(t+z), every number in (0, 1/t], where decay >= 1; so one derivation serves all real decays of a kind.
There log T <= K T^((1-decay)/2) for a constant K.
"""

from __future__ import annotations

from fractions import Fraction as Q
from math import inf

from theory.scaling import Cell, Order, Side, qk_order, spectral_order, total_order, value_order
from theory.statements import Derivation, Lemma, Parameter, above

LOGS = {"log_slow": "t - ell >= 0", "log_fade": "K*t*R - ell >= 0", "log_low": "ell1 - ell/2 >= 0",
        "log_high": "ell - ell1 >= 0"}


def _times(*factors: str) -> str:
    kept = [f"({factor})" for factor in factors if factor != "1"]
    return "*".join(kept) or "1"


def _power(name: str, exponent: int) -> str:
    return "1" if exponent == 0 else f"{name}**{exponent}"


class _Builder:
    """Collects parameters, definitions, equations and lemmas of one derivation."""

    def __init__(self, cell: Cell, pattern: str):
        self.cell, self.pattern = cell, pattern
        self.fading, self.spread = cell.geometry == "fading", cell.geometry in ("correlated", "touching")
        self.parameters = [Parameter("t", "2"), above("j")]
        self.definitions: dict[str, str] = {}
        self.assumptions: dict[str, str] = {}
        self.lemmas: list[Lemma] = []
        if self.spread:
            self.parameters.append(above("h", "0", "1"))
        if self.fading:
            self.parameters += [above("c", "0", "1"), Parameter("z", "0")]
            self.definitions |= {"R": "(1 + z)/(t + z)" if cell.decay < 1 else "1/(t + z)", "rho": "c*R**2",
                                 "h2": "1 - rho"}

    def terms(self, formula: str, *terms: tuple[str, ...], multipliers: dict[str, str] | None = None) -> str:
        self.lemmas.append(Lemma(f"{formula} >= 0", "terms", tuple(("1", item) for item in terms),
                                 multipliers=multipliers or {}))
        return formula

    def orthant(self, formula: str) -> str:
        self.lemmas.append(Lemma(f"{formula} >= 0", "orthant"))
        return formula

    def named(self, name: str, square: str) -> None:
        """A positive number given by its square."""
        self.parameters.append(above(name))
        self.assumptions[f"{name}_square"] = f"{name}**2 == {square}"

    def around(self, name: str, low: str, high: str, square: str | None) -> tuple[str, str]:
        """low <= name <= high, from the square where the name stands for a root."""
        if square is None:
            return self.orthant(f"{name} - {low}"), self.orthant(f"{high} - {name}")
        equation = f"{name}_square"
        return (self.terms(f"{name} - {low}", (f"{square} - ({low})**2", f"1/({name} + {low})"),
                           multipliers={equation: f"1/({name} + {low})"}),
                self.terms(f"{high} - {name}", (f"({high})**2 - {square}", f"1/({name} + {high})"),
                           multipliers={equation: f"-1/({name} + {high})"}))

    def qk_factor(self) -> tuple[str, str, int, str | None]:
        """(low, high, half power of T, square) of the dimensionless QK cost q: its value at mu = kappa = r = 1."""
        cell = self.cell
        if self.pattern == "diagonal":
            half = spectral_order(cell.exponent)
            if self.fading:
                return self.fading_diagonal(half)
            spread = "/h**2" if self.spread else ""
            if cell.exponent == 2:
                square = "(t**2 - 1)" + ("/h**4" if self.spread else "")
                self.named("q", square)
                return f"1/2{spread}", f"1{spread}", half, square
            self.definitions["q"] = ("(t**2 - 1)" if cell.exponent == 1 else "1") + spread
            return f"{'1/2' if cell.exponent == 1 else '1'}{spread}", f"1{spread}", half, None
        if cell.geometry == "orthonormal":
            square, low, high, half = "t**4/(t**2 + 1)", "1/2", "1", 1
        elif self.fading:
            self.parameters.append(above("s2"))
            self.definitions["rho_T"] = "rho + h2/t**2"
            square, low = "1/(rho_T*(s2 + rho_T))", "1/((c + 1)*(s2 + 1))"
            high, half = ("1 + 1/(c*s2)", 0) if cell.decay < 1 else ("1 + 1/s2", 1)
        else:
            self.definitions |= {"rho": "1 - h**2", "rho_T": "rho + (1 - rho)/t**2"}
            if cell.geometry == "correlated":
                self.parameters.append(above("c"))
                square, low, high, half = "1/(rho_T*(c + (1 - rho)/t**2))", "1/(c + 1)", "1 + 1/(rho*c)", 0
            else:
                square, low, high, half = "t**2/(rho_T*h**2)", "1", "1/(rho*h**2)", 1
        self.named("q", square)
        return low, high, half, square

    def fading_diagonal(self, half: int) -> tuple[str, str, int, str | None]:
        """(T-1)^(1/p)/(1-rho) with 1 - c <= 1 - rho <= 1."""
        if self.cell.exponent == 2:
            square = "(t**2 - 1)/h2**2"
            self.named("q", square)
            return "1/2", "1/(1 - c)", half, square
        self.definitions["q"] = "(t**2 - 1)/h2" if half else "1/h2"
        return "1/2" if half else "1", "1/(1 - c)", half, None

    def value_factor(self) -> tuple[str, str, str | None]:
        """(low, high, square) of w, the value side's cost at omega = r = 1."""
        p = self.cell.value_exponent
        if self.fading:
            return self.fading_values()
        if not self.spread:
            self.definitions["w"] = {1: "t**2", 2: "t", inf: "1"}[p]
            return "1", "1", None
        if p == inf:
            self.definitions["w"] = "1/h"
            return "1/h", "1/h", None
        # g = rho - beta²/sigma² with the null constraint, rho without; only g >= 0 is used
        self.parameters.append(Parameter("g", "0"))
        if p == 2:
            square = "((t**2 - 1)/h**2 + 1/(h**2 + t**2*g))"
            self.named("w", square)
            return "1/(2*h)", "1/h", square
        self.named("F", "h**2 + t**2*g")
        self.definitions["w"] = "(t**2 - 1)/h + 1/F"
        self.terms("F - h", ("t**2", "g", "1/(F + h)"), multipliers={"F_square": "1/(F + h)"})
        return "1/(2*h)", "1/h", None

    def fading_values(self) -> tuple[str, str, str | None]:
        """The same with h = sqrt(1-rho) between 1 - c and 1 instead of fixed."""
        p = self.cell.value_exponent
        if p != inf:
            self.parameters.append(Parameter("g", "0"))
        if p == 2:
            square = "((t**2 - 1)/h2 + 1/(h2 + t**2*g))"
            self.named("w", square)
            return "1/2", "1/(1 - c)", square
        self.named("h", "h2")
        self.terms("1 - h", ("rho", "1/(1 + h)"), multipliers={"h_square": "-1/(1 + h)"})
        self.terms("1/h - 1", ("1 - h", "1/h"))
        self.terms("h - (1 - c)", ("h2 - (1 - c)**2", "1/(h + 1 - c)"), multipliers={"h_square": "1/(h + 1 - c)"})
        self.terms("1/(1 - c) - 1/h", ("h - (1 - c)", "1/(h*(1 - c))"))
        if p == inf:
            self.definitions["w"] = "1/h"
            return "1", "1/(1 - c)", None
        self.named("F", "h2 + t**2*g")
        self.definitions["w"] = "(t**2 - 1)/h + 1/F"
        self.terms("F - h", ("t**2", "g", "1/(F + h)"), multipliers={"F_square": "1/(F + h)", "h_square": "-1/(F + h)"})
        return "1/2", "1/(1 - c)", None

    def qk(self) -> Side:
        """s = mu q scale between constants times T^a (log T)^b."""
        cell, order = self.cell, qk_order(self.cell, self.pattern)
        low, high, half, square = self.qk_factor()
        power = _power("t", half) if not order.fade else "1/R"
        square_low, square_high = self.around("q", _times(low, power), _times(high, power), square)
        scale = f"(j*t**{cell.growth})**{cell.qk_power}" if cell.qk_power else "1"
        constant = _power("j", cell.qk_power)
        if cell.form == "margin":
            self.parameters.append(above("m"))
            mu, mu_low, mu_high = "m", "m", "m"
            extra_low, extra_high = (), ()
        else:
            self.parameters += [Parameter("L", "0"), Parameter("ell", "1")]
            mu, mu_high = "mu", "1 + L"
            if self.pattern == "diagonal":
                self.parameters.append(above("ell1"))
                self.assumptions |= {key: LOGS[key] for key in ("log_low", "log_high")}
                self.definitions["mu"], mu_low = "L + ell1", "1/2"
                at_least = self.terms("mu - ell/2", ("L",), ("ell1 - ell/2",))
                at_most = self.terms("(1 + L)*ell - mu", ("L", "ell - 1"), ("ell - ell1",))
            else:
                self.definitions["mu"], mu_low = "L + ell", "1"
                at_least, at_most = self.orthant("mu - ell"), self.orthant("(1 + L)*ell - mu")
            extra_low = ((at_least, low, power, scale),)
            extra_high = ((at_most, high, power, scale),)
        self.definitions["s"] = _times(mu, "q", scale)
        side = Side("s", order, _times(mu_low, low, constant), _times(mu_high, high, constant))
        self.definitions |= {"s_low": side.low, "s_high": side.high}
        self.terms(f"s - s_low*{_reference(order)}", (square_low, mu, scale), *extra_low)
        self.terms(f"s_high*{_reference(order)} - s", (square_high, mu, scale), *extra_high)
        return side

    def value(self) -> Side:
        """v = w scale between constants times T^a."""
        cell, order = self.cell, value_order(self.cell)
        low, high, square = self.value_factor()
        power = _power("t", spectral_order(cell.value_exponent))
        if square is None and cell.value_exponent == 1 and self.fading:
            name_low, name_high = f"w - {_times(low, power)}", f"{_times(high, power)} - w"
            self.terms(name_low, ("t**2 - 1", "1/h - 1"), ("t**2/2 - 1",), ("1/F",))
            self.terms(name_high, ("t**2", "1/(1 - c) - 1/h"), ("F - h", "1/(h*F)"))
        elif square is None and cell.value_exponent == inf and self.fading:
            name_low, name_high = "1/h - 1", "1/(1 - c) - 1/h"
        elif square is None and cell.value_exponent == 1 and self.spread:
            name_low, name_high = f"w - {_times(low, power)}", f"{_times(high, power)} - w"
            self.terms(name_low, ("t**2/2 - 1", "1/h"), ("1/F",))
            self.terms(name_high, ("F - h", "1/(h*F)"))
        else:
            name_low, name_high = self.around("w", _times(low, power), _times(high, power), square)
        scale = f"(j*t**{cell.growth})**{cell.value_power}" if cell.value_power else "1"
        constant = _power("j", cell.value_power)
        self.definitions["v"] = _times("w", scale)
        side = Side("v", order, _times(low, constant), _times(high, constant))
        self.definitions |= {"v_low": side.low, "v_high": side.high}
        self.terms(f"v - v_low*{_reference(order)}", (name_low, scale))
        self.terms(f"v_high*{_reference(order)} - v", (name_high, scale))
        return side

    def compare(self, large: Order, small: Order) -> str | None:
        """The lemma T^a (log T)^b >= T^a' (log T)^b' for t >= 2, or None when they are the same."""
        if large == small:
            return None
        formula = f"{_reference(large)} - {_reference(small)}"
        if small.log and small.fade:
            assert large.half > small.half and not large.log
            self.parameters.append(above("K"))
            self.assumptions["log_fade"] = LOGS["log_fade"]
            terms = [("K*t*R - ell", f"t**{small.half}", "1/R")]
            if large.half > small.half + 1:
                terms.append(("K", f"t**{large.half} - t**{small.half + 1}"))
            return self.terms(f"K*{_reference(large)} - {_reference(small)}", *terms)
        if small.log and not large.log:
            assert large.half > small.half
            self.assumptions["log_slow"] = LOGS["log_slow"]
            terms = [("t - ell", f"t**{small.half}")]
            if large.half > small.half + 1:
                terms.append((f"t**{large.half} - t**{small.half + 1}",))
            return self.terms(formula, *terms)
        return self.orthant(formula)

    def finish(self) -> Derivation:
        cell, order = self.cell, total_order(self.cell, self.pattern)
        first, ref = self.qk(), _reference(order)
        if cell.combination == "qk":
            total, low, high = "s", "s_low", "s_high"
        else:
            second = self.value()
            a, b = _reference(first.order), _reference(second.order)
            if cell.combination == "product":
                total, low, high = "s*v", "s_low*v_low", "s_high*v_high"
            else:
                largest = first if first.order == order else second
                slow_log = bool(first.order.log and first.order.fade and largest is second)  # compared by log_fade
                total, low = "s + v", f"{largest.name}_low"
                high = "K*s_high + v_high" if slow_log else "s_high + v_high"
        self.definitions |= {"total": total, "low": low, "high": high}
        lower, upper = f"total - low*{ref}", f"high*{ref} - total"
        if cell.combination == "qk":
            self.terms(lower, (f"s - s_low*{ref}",))
            self.terms(upper, (f"s_high*{ref} - s",))
        elif cell.combination == "product":
            self.terms(lower, (f"s - s_low*{a}", "v"), ("s_low", a, f"v - v_low*{b}"))
            self.terms(upper, (f"s_high*{a} - s", "v_high", b), ("s", f"v_high*{b} - v"))
        else:
            other = "v" if largest.name == "s" else "s"
            self.terms(lower, (f"{largest.name} - {largest.name}_low*{ref}",), (other,))
            steps = [(f"s_high*{a} - s",), (f"v_high*{b} - v",)]
            for side in (first, second):
                gap = self.compare(order, side.order)
                if gap is not None:
                    steps.append((f"{side.name}_high", gap))
            self.terms(upper, *steps)
        return Derivation(tuple(self.parameters), dict(self.definitions), dict(self.assumptions), tuple(self.lemmas),
                          (f"{lower} >= 0", f"{upper} >= 0"))


def _reference(order: Order) -> str:
    log, fade = ["ell"] if order.log else [], ["1/R"] if order.fade else []
    return "*".join([*log, *([f"t**{order.half}"] if order.half else []), *fade]) or "1"


def scaling_bounds(cell: Cell, pattern: str) -> Derivation:
    """low·T^a (log T)^b <= cost <= high·T^a (log T)^b for every T >= 4, with low and high free of T (C8).

    The names `low` and `high` are rational in the cell's constants (m or L, j, h, c, s2, K); `total` is the cost.
    """
    return _Builder(cell, pattern).finish()


def example(cell: Cell, pattern: str) -> dict[str, str]:
    """Rational values of every name at which the cell's equations hold; T is not an integer there.

    A rational root of T + 1 (or T - 1) forces that: integers T with both T and T + 1 square do not exist.
    """
    root = pattern == "diagonal" and cell.exponent == 2
    fading = cell.geometry == "fading"
    t = Q(13, 5) if root or cell.geometry == "touching" else Q(12, 5)
    h = {"orthonormal": Q(1), "fading": Q(24, 25)}.get(cell.geometry, Q(13, 20))
    known = {"t": t, "j": Q(1), "h": h, "m": Q(1), "L": Q(0), "ell": Q(2), "ell1": Q(3, 2), "g": Q(0), "F": h,
             "w": t / h,
             "K": Q(4)}
    mean = 1 - h**2 + h**2 / t**2
    if fading:
        fade = Q(1, 2) if cell.decay < 1 else 1 / t
        known |= {"c": (1 - h**2) / fade**2, "z": (fade * t - 1) / (1 - fade), "s2": 3 * mean}
    if pattern == "diagonal":
        known["q"] = Q(12, 5) / h**2
    elif cell.geometry == "orthonormal":
        known["q"] = t**2 / Q(13, 5)
    elif cell.geometry == "touching":
        known["q"] = t / (Q(4, 5) * h)
    elif fading:
        known["q"] = 1 / (2 * mean)
    else:
        known |= {"c": 4 * mean - h**2 / t**2, "q": 1 / (2 * mean)}
    return {item.name: str(known[item.name]) for item in scaling_bounds(cell, pattern).parameters}
