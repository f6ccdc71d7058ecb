"""`python -m proofs_check.examples`: the paths of the example files, one a line, for `sinkproof verify --claims`."""

from pathlib import Path

for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
    print(path)
