"""C9: inverse bigram copying: closed forms for every n, and where the sink default becomes cheaper."""

from __future__ import annotations

from fractions import Fraction

from proofs_check.claim import Claim, Instance, Part
from proofs_check.claims.building import settings
from proofs_check.claims.costs import c9_aligned, c9_crossings
from proofs_check.claims.costs.building import listed, lowest_terms
from proofs_check.claims.derived import derived, false_formula
from theory import costs_bigram, costs_bigram_beyond
from theory.costs_lemmas import identity, nonnegative, positive
from theory.statements import Derivation, Parameter

HALF = Fraction(1, 2)
ROOT_3 = Fraction(17320508, 10**7)
WORDS = {"ones_eigenvalue": "J² = n J: J is an eigenvalue of 11^T",
         "room": "g >= e: true for orthonormal and aligned tokens ('rooms')"}
PLAIN = {"n": 3, "e": 1, "g": 2, "J": 0}

SINK_DEFAULT = derived(
    costs_bigram.sink_default, "sink default",
    "Every fixed-point-free permutation, every n >= 2. Subtracting x_s from the keys, N_{i,pi(i)} >= 1 and "
    "N_ij <= -1 else; N = 2P - 11^T has singular values 2 (centred part) and |n-2| (ones), the Gram roots "
    "multiply to e and g, so W costs 2(n-1)/e + (n-2)/g, Frobenius square 4(n-1)/e² + (n-2)²/g². Multipliers "
    "alpha on the target and gamma on every other token are >= 0 and give G with all singular values 1 "
    "(nuclear), resp. G = W/‖W‖ (Frobenius), with the objective equal to the cost. P enters by P P^T = 1 and "
    "P J = J only. Units of the margin.",
    words=WORDS, satisfiable=PLAIN,
    counterexamples={"ones_eigenvalue": {**PLAIN, "J": 1}, "room": {"n": 2, "e": 2, "g": 1, "J": 0}})
ROOMS = derived(
    costs_bigram.rooms, "rooms",
    "g² = (1+(n-1)c²)(1-c²+n(1+c)²) > (1-c²)² = e² for 0 <= c < 1, n >= 2; at c = 0 (orthonormal sink) g² = "
    "n+1, so the nuclear cost is 2(n-1) + (n-2)/√(n+1) and the Frobenius square n(5n-4)/(n+1). g grows and "
    "1-c² falls with c.",
    satisfiable={"n": 2, "c": 0, "h": 1})
SELF_FROBENIUS = derived(
    costs_bigram.self_frobenius, "self default, Frobenius",
    "Every row of W = (2P + I - (3/n)11^T)/e has entries 2-3/n, 1-3/n, -3/n: margins 1 over itself and of "
    "itself over the rest, sum 0, and its entries are its own multipliers (alpha, gamma > 0), so W is least: "
    "cost √(5n-9)/e for every permutation. Orthonormal: sink² - self² = 9/(n+1) > 0, the sink never wins in "
    "Frobenius norm.",
    satisfiable={"n": 3})
FROBENIUS_BOUNDARY = derived(
    costs_bigram.frobenius_boundary, "Frobenius crossing",
    "Aligned by c: self² - sink² has the sign of F(n) = (n-5)g² - (1-c²)²(n-2)². F/(1+c) at n = 5 + u has a "
    "negative constant coefficient, the others are >= 0 and the leading one is positive for an alignment b in "
    "(0,1); for n <= 5 F is a sum of terms <= 0. So for each c in (0,1) there is exactly one crossing in n, at "
    "c = 0 none.",
    satisfiable={"n": 2, "c": 0, "b": HALF})
SELF_LOWER = derived(
    costs_bigram.self_lower_bound, "involutions",
    "Nuclear norm, self default, every permutation: G = P - 11^T/n (alpha, gamma >= 0, singular values 1 and "
    "0) gives at least 2n-3; an involution's ansatz 2P+I-(3/n)11^T costs n/2 + 3(n/2-1) = 2n-3. The sink "
    "costs 2(n-1) + e(n-2)/g > 2n-3 (times 1/e): for involutions it never wins, at any alignment.",
    satisfiable={"n": 2, "e": 1, "g": 1})


def short_cycles() -> Derivation:
    """theory's derivation without the equation w² = 3, which no rational solves: w encloses √3."""
    definitions = {"n": "2*a + 3*b", "g0": "1/3", "g1": "1/3 + 1/w", "g2": "1/3 - 1/w",
                   "primal": "2*n - 3 + (2*w - 3)*b", "dual": "4*a + 3*(2*g1 + g0)*b - 3"}

    def same(left: str, right: str):
        return identity(left, right, definitions=definitions)

    lemmas = (
        same("3*(a + b - 1) + a + 2*w*b", "primal"), same("g0 + g1 + g2", "1"), same("g0 - (g1 + g2)/2", "0"),
        same("w/2*(g1 - g2)", "1"), positive("1/n - g2"), positive("1/n"), positive("g1 - 1/n"),
        nonnegative("1 - 1/n"),
        same("primal - dual", "2*b*(w**2 - 3)/w"), positive("3 - (17320508/10000000)**2"),
        positive("(17320509/10000000)**2 - 3"))
    parameters = (Parameter("a", minimum="0", integer=True), Parameter("b", minimum="1", integer=True),
                  Parameter("w", minimum="17320508/10000000", maximum="17320509/10000000"))
    return Derivation(parameters, definitions, {}, lemmas)


SHORT_CYCLES = derived(
    lowest_terms(short_cycles), "short cycles",
    "a 2-cycles and b >= 1 3-cycles, self default, nuclear: the ansatz has the moduli |2z+1| = 3 (z = 1, one "
    "left out), 1 (z = -1) and w = √3 (primitive cube roots). G = P on 2-cycles, g0 + g1 P + g2 P² on "
    "3-cycles (eigenvalues 1, i, -i at w = √3), minus 11^T/n; its multipliers are >= 0. primal - dual = "
    "2b(w²-3)/w, which is 0 at w = √3: cost 2n-3+(2√3-3)b, n = 2a+3b.",
    satisfiable={"a": 0, "b": 1, "w": ROOT_3})


def corner(recipe) -> dict[str, Fraction]:
    return {item.name: Fraction(item.minimum or 0) for item in recipe().parameters}


def beyond(recipe, name: str, text: str, **ledger) -> Part:
    return derived(lowest_terms(recipe), name, text, satisfiable=corner(recipe), **ledger)


BEYOND = (
    beyond(costs_bigram_beyond.multipliers, "multipliers of a polynomial",
           "A trigonometric polynomial g with |g| <= 1 on the l-th roots of unity, g_j <= 0 for j other than "
           "0, 1, 0 <= tau = g(1) <= 1 and g_1 >= tau/n (true for the three polynomials below: g_1 > 1/n) gives "
           "multipliers g_1 - tau/n, tau/n - g_j, tau/n >= 0 whose G = ⊕ g_a(P_a) - diag(tau_a)11^T/n has norm <= "
           "1; each row adds 2 g_1 + g_0 - 3 tau/n, so cycle lengths l_a cost at least sum l_a s_a - 3 max tau, "
           "s = 2g_1 + g_0.",
           words={"room": "g_1 >= tau/n: the target's multiplier is not negative"},
           counterexamples={"room": {"n": 2, "g1": 0, "tau": 1, "rest": 0}}),
    beyond(costs_bigram_beyond.long_modulus, "polynomial for l >= 6",
           "|g|² < 1 on the whole circle for g = (80+478z-77z²-5z⁵)/500, by Bernstein coefficients on pieces "
           "of cos in [-1,1]; its exponents are distinct modulo every l >= 6. s = 2.072."),
    beyond(costs_bigram_beyond.five_modulus, "polynomial for l = 5",
           "|g|² < 1 at the fifth roots (cosines enclosed between rationals around the roots of 4x²+2x-1) "
           "for g = (13+97z-15z²)/100. s = 2.07."),
    beyond(costs_bigram_beyond.four_modulus, "polynomial for l = 4",
           "|g|² = 1, (33/37)², 1 at 1, -1, ±i for g = (7+35z-5z²)/37. s = 77/37."),
    beyond(costs_bigram_beyond.sink_wins, "sink beyond 225",
           "n = w²-1 >= 225, all cycles of one length l >= 4: n s - 3 tau exceeds the orthonormal sink's "
           "2(n-1)+(n-2)/√(n+1), for each of the three polynomials, so the sink default is cheaper."),
    beyond(costs_bigram_beyond.sink_wins_mixed, "sink beyond 231, mixed",
           "n >= 231, any cycle lengths >= 3: every s is at least 2.07 (3-cycles: 1 + 2/√3) and tau at "
           "most 1, so the sink is cheaper."),
    beyond(costs_bigram_beyond.three_cycles, "three-cycles",
           "Only 3-cycles, self (1+2v/3)n - 3 with v around √3: with D = (2v/3-1)n - 1 the sink is cheaper "
           "iff D > (n-2)/√(n+1): true for every n >= 51 (N), false for 9 <= n <= 48 (k) and, D < 0, for 3 "
           "<= n <= 6 (j). So self up to 48, sink from 51 on."),
    beyond(costs_bigram_beyond.alignment_lowers_the_sink, "alignment lowers the sink",
           "1/(n+1) >= (1-c²)²/g²: times 1-c² the aligned sink costs at most the orthonormal one, while for "
           "cycles of one length and for 2- and 3-cycles the self default times 1-c² does not depend on c. "
           "So 'sink cheaper' at c = 0 stays true at every c in [0,1)."),
    derived(lowest_terms(costs_bigram_beyond.two_cycles_help_self), "two-cycles help self",
            "2- and 3-cycles, alignment 0 < c < 1: the sink's excess (1-c²)(n-2)/g over 2(n-1) grows with n (h "
            "more tokens) and stays below (1-c²)/(c(1+c)) = 1/c - 1, while the self default's, (2√3-3)b - 1 for "
            "b 3-cycles, ignores the 2-cycles. So more 2-cycles keep self cheaper where it is, and once "
            "(2√3-3)bc >= 1 the sink is cheaper with any number of them.",
            satisfiable={"n": 2, "h": 1, "c": HALF}),
)


def sink_matrix(cycle: list[int]) -> Instance:
    """W (n, n+1) on orthonormal tokens and sink: rows of N = 2P - 11^T, balanced by the sink's column."""
    n = len(cycle)
    table = [[Fraction(1 if j == cycle[i] else -1) for j in range(n)] for i in range(n)]
    shifts = [Fraction(sum(row), n + 1) for row in table]
    return Instance({"W": [[entry - shift for entry in row] + [-shift] for row, shift in zip(table, shifts)],
                     "target": cycle})


PERMUTATIONS = ([1, 0], [1, 2, 0], [1, 0, 3, 2], [1, 2, 3, 0], [1, 2, 0, 4, 3], [1, 2, 3, 4, 5, 0],
                [1, 2, 0, 4, 5, 3, 7, 6])
ON_MATRICES = Part(
    name="sink default on matrices", quantifier="exists",
    text="For seven listed permutations of n = 2, 3, 4 (two of them), 5, 6 and 8 orthonormal tokens, one W each: "
         "logits minus the sink's are 1 on the target and -1 elsewhere, and W W^T = 4(I - 11^T/n) + "
         "((n-2)²/(n+1)) 11^T/n, so its singular values are 2 (n-1 times) and (n-2)/√(n+1).",
    variables={"W": "matrix", "target": "integers"}, definitions={"n": "len(W)"},
    conclusions=("all(target[i] != i for i in range(n)) and all(any(target[i] == j for i in range(n)) for j "
        "in range(n))",
                 "all(W[i][j] - W[i][n] == (1 if j == target[i] else -1) for i in range(n) for j in "
                 "range(n))",
                 "W @ transpose(W) == [[(4 if i == j else 0) - 4 / n + (n - 2)**2 / ((n + 1) * n) for j in "
                 "range(n)] for i in range(n)]"),
    satisfiable=sink_matrix([1, 0]), instances=listed([sink_matrix(item) for item in PERMUTATIONS]),
    cases=settings("target", [(item,) for item in PERMUTATIONS]))

THREE = BEYOND[6]
VARIANTS = (
    *c9_crossings.VARIANTS, *c9_aligned.VARIANTS,
    false_formula(SELF_FROBENIUS, "sink wins in Frobenius norm", "trap",
        "Orthonormal, Frobenius: the sink default is cheaper", {"n": 2},
                  conclusions=("n*(5*n - 4)/(n + 1) < 5*n - 9",)),
    false_formula(SELF_LOWER, "involutions cross too", "trap", "Involutions: "
        "the sink default becomes cheaper", {"n": 100, "e": 1, "g": 10},
                  conclusions=("2*(n - 1) + e*(n - 2)/g < 2*n - 3",)),
    false_formula(THREE, "three-cycles from 48 on", "constant moved",
                  "3-cycles: the sink is cheaper at n = 48",
                  {"v": ROOT_3, "N": 51, "k": 48, "j": 3}, conclusions=(
                      "((2*v/3 - 1)*k - 1)**2*(k + 1) - (k - 2)**2 > 0",)),
    false_formula(SINK_DEFAULT, "n - 1 for n - 2", "T for T-1", "The multipliers' objective is "
        "2(n-1)/e + (n-1)/g", PLAIN,
                  conclusions=("n*(alpha + (n - 1)*gamma) == 2*(n - 1)/e + (n - 1)/g",)),
    false_formula(FROBENIUS_BOUNDARY, "aligned sink always wins", "flip inequality",
        "Frobenius, aligned: the sink wins for every n",
                  {"n": 5, "c": HALF, "b": HALF}, conclusions=("self_square > sink_square",)),
    false_formula(FROBENIUS_BOUNDARY, "alignment never helps", "wrong converse",
                  "Frobenius, aligned: the sink never wins",
                  {"n": 6, "c": HALF, "b": HALF}, conclusions=("self_square <= sink_square",)),
)

CLAIM = Claim(
    id="C9", title="Inverse bigram copying", family="costs",
    statement="n tokens, a permutation without fixed points, costs in units of the margin. Sink default "
              "(orthonormal): nuclear 2(n-1)+(n-2)/√(n+1), Frobenius √(n(5n-4)/(n+1)), for every "
              "permutation; aligned with its g. Self default: Frobenius √(5n-9), where the orthonormal sink "
              "never wins and an aligned one from one n on; nuclear 2n-3 for involutions (the sink never "
              "wins), 2n-3+(2√3-3)b with b 3-cycles among 2-cycles. Nuclear crossings, orthonormal sink: one "
              "n-cycle: self up to 99, sink from 100 on; 3-cycles: self up to 48, sink from 51 on; cycles of "
              "one length 4..99: one change of sides, at the number of cycles in the table; of one length >= 100: "
              "sink, whatever their number; any lengths >= 3: sink from 231 on. Sink aligned by c = 1/100, 1/10, "
              "1/2: one n-cycle: self up to 95, 50, 13; "
              "3-cycles: self up to 48, 33, 9, sink from 51, 36, 12 on; with 2-cycles and for cycles of one "
              "length the tables in notes/C9.md. The ansatz 2P+I-(3/n)11^T is optimal for single cycles of 4..11 "
              "tokens and not for 12, and would put the crossing at 73.",
    parts=(SINK_DEFAULT, ROOMS, SELF_FROBENIUS, FROBENIUS_BOUNDARY, SELF_LOWER, SHORT_CYCLES, ON_MATRICES,
           *c9_crossings.PARTS, *c9_aligned.PARTS, *BEYOND),
    variants=VARIANTS, required="PROVED", required_formal="PROVED",
    scope_notes=(
        "Crossings for cycles of one length are complete: every pair (length, cycles) with fewer than 225 "
        "tokens has its own replayed witness (lengths 4..112 with two or more cycles, single cycles of "
        "2..224), lengths 2 and 3 and everything beyond have a formula.",
        "Aligned sinks, nuclear norm: complete at c = 1/100, 1/10, 1/2 for cycles of one length and for 2- and "
        "3-cycles in any numbers. At every c in [0,1) involutions never cross, and what is 'sink cheaper' at "
        "c = 0 stays so for cycles of one length and for 2- and 3-cycles.",
        "Not claimed, nuclear norm: where aligned sinks become cheaper at other c (notes/C9.md has figures, marked "
        "as such).",
        "Not claimed: exact optima for single cycles of length >= 12; mixed cycle types with fewer than 231 "
        "tokens and lengths >= 4; the aligned self default for mixed types with lengths >= 4; exponents "
        "other than 1 and 2.",
        "The reduction to circulants, and that the identities amount to feasible matrices, is the argument "
        "in the texts and in notes/C9.md."),
)
