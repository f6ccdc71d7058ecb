"""Who judges: claims, evidence, verdicts, certificates, the report and the command line."""

__version__ = "0.1.0"
