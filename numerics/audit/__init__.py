"""What is measured on a real attention block: numpy on the records of `numerics.checkpoint.record`.

One measurement per file: `tokens` (what enters attention, with and without gain; G3, G4), `drift` (O1, O3), `mixing`
(O1m), `norms` (C0, C1), `values` (E2, E3), `scores` (P0), `planes` (RoPE, for G6).  Half-spaces and costs are
`numerics.hull`,
`numerics.sink_cost` and `numerics.diagonal_bound` on real inputs.  Every number is a measurement; none is a proof.
"""
