"""The command line's commands, one per file."""
