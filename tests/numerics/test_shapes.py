"""The shapes written in signatures are checked: each typed function accepts its own and rejects another."""

import inspect

import numpy as np
import pytest
from beartype import beartype
from jaxtyping import TypeCheckError, jaxtyped

from numerics.attention import causal_mask, logits, require_row_stochastic, softmax_attention
from numerics.cloud import PointCloud
from numerics.gordan import pair_rows, representable
from numerics.jacobian import (
    BilinearLogits,
    RotaryLogits,
    closed_form_jacobian,
    head_output,
    jacobian_norm_bound,
)
from numerics.layer import layer_norm, one_step, rms_norm
from numerics.rope import g6_head, llama_rope_logits, rope_logits, rope_rotation
from numerics.thin_qr import ThinQR

# Five tokens in three dimensions with head dimension 2 or 4: no two sizes coincide.
X, W, SQUARE = np.ones((5, 3)), np.ones((3, 3)), np.eye(5)
PLANE, HEAD, VECTOR, PLACE = np.ones((2, 3)), np.ones((4, 3)), np.ones(3), np.arange(5.0)
PLAIN, ROTARY = BilinearLogits(W), RotaryLogits(PLANE, PLANE, PLACE, 0.1)
PAIRS = np.array([[1, 1], [2, 1]])

CASES = [
    (logits, (X, W), (X, SQUARE)),
    (
        softmax_attention,
        (np.ones((5, 3)), np.ones((5, 3), dtype=bool)),
        (SQUARE, np.ones((5, 3), dtype=bool)),
    ),
    (softmax_attention, (SQUARE, causal_mask(5)), (SQUARE, SQUARE)),
    (require_row_stochastic, (SQUARE,), (np.ones((1, 5, 5)),)),
    (rms_norm, (X, VECTOR), (X, np.ones(5))),
    (layer_norm, (X, VECTOR, VECTOR), (X, VECTOR, np.ones(5))),
    (one_step, (X, SQUARE, W), (X, W, SQUARE)),
    (rope_rotation, (0.1, PLACE), (0.1, X)),
    (rope_logits, (X, PLANE, PLANE, PLACE, 0.1), (X, HEAD, HEAD, PLACE, 0.1)),
    (llama_rope_logits, (X, HEAD, HEAD, PLACE), (X, HEAD.T, HEAD.T, PLACE)),
    (g6_head, (VECTOR, VECTOR, VECTOR, 0.1, 2), (VECTOR, VECTOR, np.ones(5), 0.1, 2)),
    (head_output, (X, PLAIN, W), (X, PLAIN, SQUARE)),
    (closed_form_jacobian, (X, PLAIN, W), (X, W, W)),
    (closed_form_jacobian, (X, ROTARY, W), (X, ROTARY, W, causal_mask(3))),
    (jacobian_norm_bound, (X, PLAIN, W, causal_mask(5)), (X, PLAIN, W, causal_mask(3))),
    (BilinearLogits.logits, (PLAIN, X), (PLAIN, PLACE)),
    (RotaryLogits.logits, (ROTARY, X), (ROTARY, PLACE)),
    (pair_rows, (X, 0, PAIRS), (X, 0, np.ones((2, 3), dtype=int))),
    (representable, (X, 0, PAIRS), (X, 0, PAIRS.astype(float))),
    (PointCloud.products, (PointCloud(X), VECTOR), (PointCloud(X), X)),
    (ThinQR.residual, (ThinQR(VECTOR), VECTOR), (ThinQR(VECTOR), X)),
]


@pytest.mark.parametrize(
    "function, good, bad", CASES, ids=[f"{f.__qualname__}-{k}" for k, (f, *_) in enumerate(CASES)]
)
def test_a_typed_function_accepts_its_shapes_and_rejects_others(function, good, bad):
    checked = jaxtyped(inspect.unwrap(function), typechecker=beartype)
    checked(*good)
    with pytest.raises(TypeCheckError):
        checked(*bad)
