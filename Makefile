# Only Python 3.11+, git and make are needed; everything else is installed here, into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
OUT ?= runs/demo

.PHONY: demo demo-full test lint bench bench-agent bench-stats bench-coverage bench-verify bench-clean bench-generate lock clean sandbox

demo: $(READY) sandbox
	$(BIN)/mlesmith demo --out $(OUT)

demo-full: $(READY) sandbox
	$(BIN)/mlesmith demo --full --out $(OUT)

test: $(READY) sandbox
	$(BIN)/pytest -n auto --dist loadfile

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY) sandbox
	$(BIN)/python benchmarks/sandbox.py

# PEERS is a Python that has Inspect AI; benchmarks/peers.txt says how to get one.
bench-agent: $(READY)
	$(BIN)/python benchmarks/agent.py $(addprefix --peers ,$(PEERS))

bench-stats: $(READY)
	$(BIN)/python benchmarks/stats.py

bench-coverage: $(READY)
	$(BIN)/python -m benchmarks.coverage

bench-verify: $(READY) sandbox
	$(BIN)/python benchmarks/verify.py

# WHEELS and DEBS are folders of package files with data inside; benchmarks/README.md names them.
bench-clean: $(READY) sandbox
	$(BIN)/python -m benchmarks.cleantasks $(addprefix --wheels ,$(WHEELS)) $(addprefix --debs ,$(DEBS))

bench-generate: $(READY) sandbox
	$(BIN)/python -m benchmarks.rawsets $(addprefix --wheels ,$(WHEELS)) $(addprefix --debs ,$(DEBS))

# The pinned versions of everything; carries no registry address.
lock:
	uv pip compile --universal --python-version 3.11 --extra dev --no-emit-index-url --no-header \
	  --quiet pyproject.toml -o requirements.lock
	cd harness/sandboxes/containers/image && for variant in cpu gpu; do \
	  uv pip compile --python-platform x86_64-manylinux_2_28 --python-version 3.11 --no-emit-index-url \
	    --no-header --no-annotate --quiet requirements-$$variant.in -o requirements-$$variant.txt; done

clean:
	rm -rf $(VENV) runs build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "this Python cannot make virtual environments; install the package python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

# Bubblewrap keeps agent code from the answers. Installed where we may; else the command says what to do.
sandbox:
	@command -v bwrap >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	    { apt-get install -y -qq bubblewrap >/dev/null 2>&1 || \
	      { apt-get update -qq >/dev/null 2>&1; apt-get install -y -qq bubblewrap >/dev/null 2>&1; }; }; } || \
	  echo "bubblewrap is not installed; the demo will run without isolation and say so"
