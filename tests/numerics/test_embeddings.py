"""The packaged real embeddings are what their description says."""

import numpy as np
import pytest

from numerics.attention import require_row_stochastic
from numerics.embeddings import load_paragraph, load_pool


def test_the_paragraph_has_the_stated_shapes():
    sample = load_paragraph()
    n = len(sample.token_ids)
    assert n == len(sample.tokens) == 112 and sample.token_ids[0] == 1
    assert sorted(sample.inputs) == sorted(sample.attention) == [0, 10, 15, 29]
    assert all(x.shape == (n, 576) for x in sample.inputs.values())
    assert all(a.shape == (9, n, n) for a in sample.attention.values())
    assert len(sample.heads) == 9 and sample.heads[0].w_vo.shape == (576, 576)
    assert sample.heads[4].w_q.shape == sample.heads[4].w_k.shape == (64, 576)


def test_query_heads_share_key_value_heads_in_threes():
    heads = load_paragraph().heads
    assert np.array_equal(heads[3].w_k, heads[5].w_k) and not np.array_equal(heads[2].w_k, heads[3].w_k)


@pytest.mark.parametrize("layer", [0, 10, 15, 29])
def test_packaged_attention_is_causal_and_row_stochastic_to_half_precision(layer):
    for attention in load_paragraph().attention[layer]:
        require_row_stochastic(attention, tolerance=112 * 2.0**-11)
        assert not np.triu(attention, 1).any()


def test_the_pool_has_more_tokens_than_twice_the_dimension():
    pool = load_pool()
    assert pool.layer == 15 and pool.tokens.shape == (1500, 576) and pool.sink.shape == (576,)
    assert pool.tokens.dtype == np.float16 and np.isfinite(pool.tokens).all()
    assert not (pool.tokens == pool.sink).all(axis=1).any()
