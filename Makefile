.DEFAULT_GOAL := help
.PHONY: help run test format lock world graphs

help: ## list these targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

run: ## run the deep researcher on the embedded Deep Research Bench (offline)
	scripts/run experiment=deep_drb

test: ## format check, lint, strict types, tests
	scripts/test

format: ## format the code and mend what lint can mend
	.venv/bin/ruff format . && .venv/bin/ruff check --fix .

lock: ## compile the hashed locks anew (needs uv)
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate -q -o requirements/run.lock
	uv pip compile pyproject.toml --extra test --extra postgres -c requirements/run.lock --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate -q -o requirements/test.lock

world: ## generate the closed world and the mini datasets anew
	.venv/bin/python -m benchmarks.closed_world --out benchmarks

graphs: ## draw the diagrams of docs/graphs.md anew
	.venv/bin/aiq graphs --out docs/graphs.md
