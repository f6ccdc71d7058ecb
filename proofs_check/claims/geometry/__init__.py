"""Family G: when a sink can be represented."""
