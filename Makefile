# Two commands from a fresh clone: `make book` and `make test`. Second runs reuse what is there.
PYTHON ?= python3
VENV ?= .venv
PROFILE ?= paper
BIN := $(VENV)/bin
# Else every process would compile this package again, and every run of the tests all of them.
unexport PYTHONDONTWRITEBYTECODE
# Of thousands of modules a few hundred are imported, and compiled then.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt

.PHONY: book test packages certificates browser verify-slow repeat benchmark lint serve tidy clean

book: $(VENV)/.book
	$(BIN)/gspa build --profile $(PROFILE)

test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not browser"

# The built site's certificates, each proved by the site's own copy of the program, which imports nothing of gspa.
certificates: $(VENV)/.book
	find _build/html/certificates -name '*.json' -print0 | xargs -0 -n 1 -P 2 $(BIN)/python -I _build/html/check_certificate.py > _build/certificates.txt
	@echo "$$(grep -c '^PROVED$$' _build/certificates.txt) of $$(ls _build/html/certificates | wc -l) certificates proved."

# The built book in a real browser: Chromium from GSPA_CHROMIUM or the path; without one the tests are skipped.
browser: $(VENV)/.test $(VENV)/.browser
	$(BIN)/python -m pytest -n 3 --dist worksteal -m "not slow" tests/browser

# The slow checks: interval arithmetic over a grid of cases, builds killed at random moments, fuzzing, planted errors;
# then the book built twice. About an hour on two cores.
verify-slow: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist loadfile -m slow
	$(MAKE) repeat PROFILE=$(PROFILE)

# Two builds from clean clones of the committed state, compared byte for byte; PROFILE=paper for the papers' sizes.
repeat: PROFILE = quick
repeat: $(VENV)/.test
	$(BIN)/python tests/faults/repeat.py --profile $(PROFILE)

# Times the accountant against plain evaluations and asks what peers were asked; keeps what the pages on it show.
benchmark: $(VENV)/.test
	$(BIN)/python benchmarks/accountant.py --record
	$(BIN)/python benchmarks/growth.py --record
	$(BIN)/python benchmarks/peers.py --record

lint: $(VENV)/.test $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers 2
	$(BIN)/codespell

serve: $(VENV)/.book
	$(BIN)/gspa serve

# Notebooks in the form they are committed in: no outputs, stable cell ids.
tidy: $(VENV)/.book
	$(BIN)/python -m gspa.book.notebook_source notebooks/*.ipynb

clean:
	rm -rf _build book/notebooks book/_generated build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "gspa needs Python 3.11 to 3.13; choose one with make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

# All sets of packages in one go, which takes less than one after the other.
packages: $(VENV)/bin/python
	@echo "Installing all packages into $(VENV) (minutes the first time) ..."
	$(PIP) --editable '.[book,browser,lint,test]'
	@touch $(addprefix $(VENV)/.,book browser lint test)

# A stamp for each set of packages: installed again only when the pins change.
$(VENV)/.book $(VENV)/.test $(VENV)/.browser $(VENV)/.lint: $(VENV)/.%: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing the packages for '$*' into $(VENV) (minutes the first time) ..."
	$(PIP) --editable '.[$*]'
	@touch $@
