"""What is claimed and why it holds: exact derivations with sympy, handed over as lemmas the kernel can replay."""
