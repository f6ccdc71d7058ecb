"""Pictures of what was found: heatmaps of logits and attention, singular values."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from numerics.attention import softmax_attention
from numerics.scaling_plots import label_log_axis
from proofs_check.inputs import Tokens


def cost_picture(path: Path, title: str, tokens: Tokens, w_qk: np.ndarray, sink_is_key: bool) -> None:
    """Logits x_iᵀ W x_j, the attention they give, and the singular values of W; query axis first."""
    queries = tokens.content.astype(np.float64)
    keys = np.vstack([tokens.sink.astype(np.float64)[None], queries]) if sink_is_key else queries
    logits = queries @ w_qk @ keys.T
    attention = np.asarray(softmax_attention(logits))
    values = np.linalg.svd(w_qk, compute_uv=False)
    values = values[values > 1e-12 * values[0]]
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    for axis, data, name, colours in ((axes[0], logits, "logits", "RdBu_r"),
                                      (axes[1], attention, "attention", "viridis")):
        limit = np.abs(data).max()
        image = axis.imshow(data, cmap=colours, aspect="auto", interpolation="nearest",
                            vmin=-limit if colours == "RdBu_r" else 0, vmax=limit)
        axis.set(title=name, xlabel="key" + (" (0 is the sink)" if sink_is_key else ""), ylabel="query")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.yaxis.set_major_locator(MaxNLocator(integer=True))
        figure.colorbar(image, ax=axis)
    axes[2].semilogy(np.arange(1, len(values) + 1), values, "o-", markersize=3)
    axes[2].set(title="singular values of W", xlabel="index")
    axes[2].xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    label_log_axis(axes[2])
    axes[2].grid(alpha=0.3)
    figure.suptitle(title)
    figure.savefig(path, dpi=110)
    plt.close(figure)
