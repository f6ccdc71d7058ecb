"""Real checkpoints: loading, extraction with its check, and interventions; torch and transformers are the extra `models`."""
