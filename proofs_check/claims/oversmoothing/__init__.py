"""Family O: one step of attention, residual and normalisation, and what it does to token cosines."""
