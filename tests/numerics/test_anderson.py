import numpy as np

from numerics.anderson import Anderson


def test_extrapolation_solves_a_small_linear_iteration_in_few_steps():
    rng = np.random.default_rng(0)
    matrix = 0.99 * np.linalg.qr(rng.standard_normal((4, 4)))[0]
    shift = rng.standard_normal(4)
    solution = np.linalg.solve(np.eye(4) - matrix, shift)
    z, memory = np.zeros(4), Anderson(memory=8, period=2)
    plain = z.copy()
    for _ in range(40):
        image = matrix @ z + shift
        plain = matrix @ plain + shift
        proposal = memory.propose(image - z, image)
        z = image if proposal is None else proposal
    assert np.linalg.norm(z - solution) <= 1e-8 * np.linalg.norm(solution)
    assert np.linalg.norm(plain - solution) >= 0.1 * np.linalg.norm(solution)


def test_nothing_is_proposed_before_two_steps_or_off_its_period():
    memory = Anderson(memory=5, period=3)
    given = [memory.propose(np.array([1.0 / k]), np.array([2.0 / k])) is None for k in (1, 2, 3, 4)]
    assert given == [True, True, False, True]
    memory.reset()
    assert memory.propose(np.ones(1), np.ones(1)) is None
