"""Families E, S and M: a switched-off head is a sink; soft switches, communication, attention as MLP."""
