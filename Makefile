# The two commands: `make demo` and `make test`. Both set up all they need below .venv, and say so
# when something that only the system can give (a compiler, Icarus Verilog) is not there.

SHELL := /bin/sh
BIN := .venv/bin
EXAMPLE := examples/mms_d/mms_d.c

# A stamp is named after all that it stands for, so a warm run installs nothing, and a changed lock
# file or a moved checkout installs again.
fingerprint = $(shell { cat $(1) pyproject.toml sim/setup.sh; pwd; } | cksum | tr ' ' '-')
RUN_STAMP := .venv/.run-$(call fingerprint,requirements.lock)
DEV_STAMP := .venv/.dev-$(call fingerprint,requirements-dev.lock)
FORMAL_STAMP := .venv/.formal-$(call fingerprint,requirements-formal.lock)

.PHONY: help demo test test-long formal lint designs mutants bench setup setup-dev icarus lock clean

help:
	@echo 'make demo       set up, then plan and verify $(EXAMPLE) on Verilator'
	@echo 'make test       set up, then lint and run the tests'
	@echo 'make lint       ruff, mypy and the import contracts'
	@echo 'make test-long  the tests that take minutes'
	@echo 'make formal     set up, then prove the divider and the parts that words off chip go through'
	@echo 'make designs    compile some 200 programs: none takes more cycles or blocks than the file says'
	@echo '                (MODE=identical: none is another one; MODE=write: write the file anew)'
	@echo 'make mutants    change the judges, one comparison or bound at a time: every change must be noticed'
	@echo 'make bench      reproduce the published figures'
	@echo 'make lock       write the lock files again from pyproject.toml'
	@echo 'make clean      remove what the others made'

demo: setup
	@echo '--- the plan: loop orders, shifts and the predicted cycles'
	$(BIN)/rtlgen plan $(EXAMPLE)
	@echo '--- the proof: generated Verilog against the golden model'
	$(BIN)/rtlgen verify $(EXAMPLE) --simulator verilator
	@echo '--- call it yourself: . $(BIN)/activate; rtlgen --help'

# Tests of one file share what is compiled for them, so they stay together.
test: setup-dev icarus lint
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m 'not long and not formal'

test-long: setup-dev icarus
	HYPOTHESIS_PROFILE=exploring $(BIN)/python -m pytest -n 2 -m long

formal: setup-dev $(FORMAL_STAMP)
	$(BIN)/python -m pytest -n 2 -m formal hw_tests/formal

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers 2
	$(BIN)/lint-imports

# Some 700 seconds of processor time on two cores; ONLY='examples/g*' takes some of them.
MODE := no-worse
designs: setup-dev
	$(BIN)/python -m benchmarks.designs --mode $(MODE) $(if $(ONLY),--only '$(ONLY)')

# Half an hour on two cores; `.venv/bin/python -m tests.mutation replay` takes one judge.
mutants: setup-dev
	$(BIN)/python -m tests.mutation

bench: setup-dev
	$(BIN)/rtlgen bench mf3
	$(BIN)/rtlgen bench hls19
	$(BIN)/rtlgen bench limit
	$(BIN)/rtlgen bench stencils

setup: $(RUN_STAMP)
setup-dev: $(DEV_STAMP)

$(RUN_STAMP): ; @sh sim/setup.sh requirements.lock $@
$(DEV_STAMP): ; @sh sim/setup.sh requirements-dev.lock $@
$(FORMAL_STAMP): ; @sh sim/setup.sh requirements-formal.lock $@

# Icarus Verilog exists only as a system package. Without it, its tests are skipped and say so.
icarus:
	@command -v iverilog >/dev/null && exit 0; \
	if ! command -v apt-get >/dev/null; then become=false; \
	elif [ "$$(id -u)" = 0 ]; then become=; \
	elif sudo -n true 2>/dev/null; then become='sudo -n'; \
	else become=false; fi; \
	echo 'Installing Icarus Verilog ...'; export DEBIAN_FRONTEND=noninteractive; \
	$$become apt-get install -y -qq iverilog >/dev/null 2>&1 || \
	{ $$become apt-get update -qq && $$become apt-get install -y -qq iverilog; } \
	    >/dev/null 2>&1 || \
	echo 'Cannot install Icarus Verilog: its tests will be skipped (apt-get install iverilog).'

# Both lock files hold exact versions with hashes, for every platform, and name no index.
COMPILE := .tools/lock/bin/uv pip compile -q --universal --python-version 3.11 \
    --generate-hashes --no-emit-index-url --custom-compile-command 'make lock'
lock:
	python3 -m venv .tools/lock
	.tools/lock/bin/pip install -q 'uv>=0.5'
	$(COMPILE) --upgrade --extra checkout pyproject.toml -o requirements.lock
	$(COMPILE) --upgrade --extra checkout --extra flow --extra test --extra dev \
	    -c requirements.lock pyproject.toml -o requirements-dev.lock
	$(COMPILE) --upgrade --extra checkout --extra formal \
	    -c requirements-dev.lock pyproject.toml -o requirements-formal.lock

clean:
	rm -rf .venv .tools build .pytest_cache .mypy_cache .ruff_cache .hypothesis \
	    .import_linter_cache *.egg-info
