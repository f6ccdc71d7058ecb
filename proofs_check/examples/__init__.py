"""Claims from other papers, as one would bring one's own: files for `sinkproof verify --claims`.

Not part of the theory: `sinkproof verify` does not run them.  `python -m proofs_check.examples` prints where they are.

- `repeated_tokens.py`, X1: without positions, t repeated tokens share the attention equally (Gu et al. 2410.10781);
  the tutorial, notes/tutorial.md, builds this file
- `repeated_tokens_any_length.py`, X2: the inductions that carry X1 to every t
- `softmax_one.py`, X3: softmax_1 is ordinary softmax with a null sink
- `family.py`: all of them
"""
