"""The example claims together: `sinkproof verify --claims` of this file verifies all of them."""

from proofs_check.examples import repeated_tokens, repeated_tokens_any_length, softmax_one

CLAIMS = (repeated_tokens.CLAIM, repeated_tokens_any_length.CLAIM, softmax_one.CLAIM)
