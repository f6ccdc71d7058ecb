"""Family C: what the patterns cost in parameter norm."""
