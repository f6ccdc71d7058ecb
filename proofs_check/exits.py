"""Exit codes of the command line, as `sinkproof --help` states them; 0 and 1 are what a command found."""

EXIT_BAD_INPUT, EXIT_MISSING, EXIT_BROKEN, EXIT_LIMIT = 2, 3, 4, 5
EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143  # 128 and the signal's number
