.DEFAULT_GOAL := help
.PHONY: help run test lint types fast whole extras coverage fuzz size format lock world settings graphs
BIN := .venv/bin
LOCK := --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate -q
PYTEST := $(BIN)/pytest --numprocesses auto --maxprocesses 4 --dist worksteal

help: ## list these targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

run: ## run the deep researcher on the embedded Deep Research Bench (offline)
	scripts/run experiment=deep_drb

test: ## everything that CI checks: lint, size, strict types, all tests
	scripts/test

fast: ## tests of single parts only, about a minute
	$(PYTEST) -m "not slow and not timing" tests

lint: ## format, lint, import rules, size budget
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/python scripts/size.py

types: ## mypy, strict, on aiq, benchmarks, scripts and tests
	$(BIN)/mypy

whole: ## runs that take minutes, of which `make test` does smaller ones
	$(PYTEST) -m "whole and not timing" tests

extras: ## tests of the extras inspect, mlflow, optuna, otel, ray and wandb, each in its own environment
	scripts/extras

coverage: ## branch coverage of all tests, by package
	$(PYTEST) --cov --cov-report= tests
	@for package in aiq/*/__init__.py; do folder=$${package%/*}; \
		printf '%-18s %3s %%\n' $$folder "$$($(BIN)/coverage report --include="$$folder/*" --format=total)"; done

fuzz: ## fuzz the citation code with generated reports (scripts/fuzz N --seed S for more)
	scripts/fuzz

size: ## files, lines and tokens by package, against the budget in pyproject.toml
	$(BIN)/python scripts/size.py

format: ## format the code and apply lint fixes
	$(BIN)/ruff format . && $(BIN)/ruff check --fix .

lock: ## recompile the hashed locks (needs uv)
	uv pip compile pyproject.toml --extra serve $(LOCK) -o requirements/run.lock
	uv pip compile pyproject.toml --extra test --extra postgres -c requirements/run.lock $(LOCK) -o requirements/test.lock
	echo uv | uv pip compile - $(LOCK) -o requirements/installer.lock

world: ## regenerate the closed world and the mini datasets
	$(BIN)/python -m benchmarks.closed_world --out benchmarks

settings: ## regenerate the settings tables in docs/
	$(BIN)/python scripts/settings_tables.py

graphs: ## redraw the diagrams in docs/reference/graphs.md
	$(BIN)/aiq graphs --out docs/reference/graphs.md
