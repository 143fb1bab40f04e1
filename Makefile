# Every target prepares .venv by itself; a second call finds it ready. Needs only Python 3.11-3.13.

PYTHON ?= python3
UV ?= uv
PORT ?= 5000
VENV_PYTHON := .venv/bin/python
BOOTSTRAP := $(PYTHON) scripts/bootstrap.py

# Keeps the present versions where they still fit; `make pins PINS_FLAGS=--upgrade` moves them all.
COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 \
	--fork-strategy fewest --generate-hashes --no-emit-index-url \
	--custom-compile-command "make pins" $(PINS_FLAGS)

.DEFAULT_GOAL := help
.PHONY: help run ui paper paper-quick test slow lint bench pins clean

help: ## print the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' Makefile

run: ## run a first sweep
	@$(BOOTSTRAP) run
	$(VENV_PYTHON) -m pipeline.run -m method=ours,margin cutoff=0.5,0.7

ui: ## serve MLflow's charts here and print their address (or PORT=…)
	@$(BOOTSTRAP) run
	@$(VENV_PYTHON) -m pipeline.tracking.ui port=$(PORT)

paper: ## tables, figures, report by dvc repro (hours, from nothing)
	@$(BOOTSTRAP) run
	@PATH="$(CURDIR)/.venv/bin:$$PATH" DVC_NO_ANALYTICS=1 .venv/bin/dvc repro

paper-quick: ## the same at toy size, in minutes, to outputs/quick
	@$(BOOTSTRAP) run
	@$(VENV_PYTHON) scripts/paper_quick.py

test: ## run the fast tests
	@$(BOOTSTRAP) dev
	$(VENV_PYTHON) -m pytest -n 2

slow: ## run the slow tests (browser, Ray, every mutant)
	@$(BOOTSTRAP) dev
	@$(VENV_PYTHON) -m pytest -n 2 -m slow --timeout 3600

lint: ## check style, types and the direction of imports
	@$(BOOTSTRAP) dev
	$(VENV_PYTHON) -m ruff check
	$(VENV_PYTHON) -m ruff format --check
	$(VENV_PYTHON) -m mypy
	.venv/bin/lint-imports

bench: ## compare speed with other libraries
	@$(BOOTSTRAP) bench
	@$(VENV_PYTHON) scripts/bench.py

pins: ## compile requirements/*.txt from pyproject.toml (needs uv)
	$(COMPILE) pyproject.toml --output-file requirements/run.txt
	$(COMPILE) pyproject.toml --group dev --constraint requirements/run.txt \
		--output-file requirements/dev.txt
	$(COMPILE) pyproject.toml --group bench --constraint requirements/dev.txt \
		--output-file requirements/bench.txt
	$(COMPILE) --group uv --output-file requirements/uv.txt

clean: ## remove .venv and the caches, keep outputs/
	@rm -rf .venv .venv.lock .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
