"""What the numbers say: pure functions on float64 arrays (numpy, jax, cvxpy).

Importing this room switches jax to 64-bit floats: in 32 bits a softmax whose logit gap is 17 already rounds
1 - max(a) to zero, and every strict inequality of the theory would be decided by rounding.
"""

import jax

jax.config.update("jax_enable_x64", True)
