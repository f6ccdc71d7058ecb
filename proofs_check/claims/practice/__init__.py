"""Practice: statements about how attention is scored; measurements on checkpoints are never proved."""
