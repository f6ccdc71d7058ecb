"""Derivations for S2, M1 and E8: the kernel accepts them, and rejects them with one term changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofs_check.claim import _statement
from proofs_check.engines.derivations import lemma_table, symbolic_part
from proofs_check.kernel.encoding import Rejected
from proofs_check.kernel.symbolic import check_derivation
from theory.communication import explicit_jacobian, other_token, own_token, softmax_rule
from theory.communication_rank import rank_one_head
from theory.switch_margins import least_margin_is_sharp


def replayed(derivation) -> None:
    part = symbolic_part(lambda: derivation, "part", "part")
    check_derivation(_statement(part, {}), [lemma_table(item) for item in derivation.lemmas])


@pytest.mark.parametrize("derivation", [
    softmax_rule, other_token, own_token, rank_one_head, least_margin_is_sharp,
    lambda: explicit_jacobian(1, 1), lambda: explicit_jacobian(2, 1), lambda: explicit_jacobian(2, 2),
    lambda: explicit_jacobian(3, 2)])
def test_the_kernel_accepts_the_derivation(derivation):
    replayed(derivation())


@pytest.mark.parametrize(("derivation", "name", "wrong"), [
    (softmax_rule, "a_m_moved", "e_m/moved"), (other_token, "o_c", "v_jc"),
    (own_token, "added", "kappa*mean_vs"),
    (own_token, "mean_s", "(e_i*s_ib + rest_s)/e_i")])
def test_the_kernel_rejects_the_derivation_with_one_definition_changed(derivation, name, wrong):
    true = derivation()
    with pytest.raises(Rejected):
        replayed(replace(true, definitions={**true.definitions, name: wrong}))


def test_the_covariance_in_the_explicit_jacobian_is_centred():
    true = explicit_jacobian(2, 1)
    with pytest.raises(Rejected):
        replayed(replace(true, definitions={**true.definitions, "Sigma_00": "a_0*x_00*x_00 + a_1*x_10*x_10"}))


def test_the_explicit_jacobian_has_an_entry_for_every_output_token_and_input():
    assert len(explicit_jacobian(3, 2).conclusions) == 3 * 2 * 2
