"""`sinkproof audit`: a checkpoint measured layer by layer; every finished layer is a file, so that an audit resumes.

text (what is run) -> extract (torch; the extraction check first) -> layer (numpy, one job per layer, half-spaces
certified) -> network (torch; attention replaced) -> meaning (hypotheses and the claims that then apply) -> page
and pictures.
"""
