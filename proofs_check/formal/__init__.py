"""Rocq/MathComp sources of the general theorems, and the gate that rebuilds them and asks what they rest on."""
