"""What is measured on a real attention block: numpy on the records of `numerics.checkpoint.record` (arXiv 2605.08453, our reconstruction).

One measurement per file: `tokens` (what enters attention, with and without gain), `drift` (P3), `mixing` (P4),
`norms` (P5), `values` (P6), `scores` (P7), `planes` (RoPE, for G6).  Half-spaces and costs (P2, P5) are `numerics.hull`,
`numerics.sink_cost` and `numerics.diagonal_bound` on real inputs.  Every number is a measurement; none is a proof.
"""
