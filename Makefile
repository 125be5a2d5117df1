# Set-up, demonstration, tests and lint. `make help` lists the targets.
#
# TORCH says which torch to install. On a machine without a GPU it should be a CPU build: choose it
# with the package index that pip is configured for (PIP_INDEX_URL, PIP_EXTRA_INDEX_URL, or a
# wheel file: `make demo TORCH=/path/to/torch.whl`), because the Linux wheels of the default
# index bring several gigabytes of CUDA libraries. TRITON is the release that belongs to that torch.
PYTHON ?= python3
TORCH  ?= torch==2.13.0
TRITON ?= triton==3.7.1
VENV   ?= .venv
# Extra arguments for pytest, for example `make test PYTEST_ARGS='-k ckks'`.
PYTEST_ARGS ?=

BIN := $(VENV)/bin
PACKAGES := '$(TORCH)'
ifeq ($(shell uname -s),Linux)
PACKAGES += '$(TRITON)'
endif

.PHONY: help demo test lint docs fuzz fuzz-text plant-faults bench-compile bench-cpu bench-gpu clean

help:
	@echo "make demo    set up $(VENV) and run the encrypted dot product"
	@echo "make test    set up $(VENV) and run every test, lit tests included"
	@echo "make lint    ruff check, ruff format --check, pyright in strict mode"
	@echo "make docs    write docs/reference from the definitions of dialects and passes"
	@echo "make fuzz MINUTES=20 SEED=1   random programs through every stage and target"
	@echo "make plant-faults SEED=1   faults that random programs have to find"
	@echo "make fuzz-text COUNT=20000 SEED=1   mutated MLIR texts through fhelium-opt"
	@echo "make bench-compile   how the cost of each pass grows with the program"
	@echo "make bench-gpu       times of whole operations on a CUDA device, fused and unfused, every residue compared"
	@echo "make bench-cpu       times of whole operations on this CPU, beside OpenFHE where it is there"
	@echo "make clean   remove $(VENV) and everything that was built"

# The stamps make set-up run once, and again when pyproject.toml changes.
$(VENV)/.run.stamp: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet $(PACKAGES) -e .
	touch $@

$(VENV)/.dev.stamp: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet $(PACKAGES) -e '.[dev]'
	touch $@ $(VENV)/.run.stamp

demo: $(VENV)/.run.stamp
	$(BIN)/fhelium-run examples/dot_product.mlir

test: $(VENV)/.dev.stamp
	$(BIN)/python -m pytest -n logical --maxprocesses 8 $(PYTEST_ARGS)

lint: $(VENV)/.dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

docs: $(VENV)/.dev.stamp
	$(BIN)/python -m fhelium_ir.tools.reference_pages

# Inputs of the fuzzer, and the seed that they come from.
COUNT ?= 20000
SEED ?= 1

# How long the fuzzer of programs runs.
MINUTES ?= 20

fuzz: $(VENV)/.dev.stamp
	$(BIN)/python -m tests.fuzz_programs --minutes $(MINUTES) --seed $(SEED)

plant-faults: $(VENV)/.dev.stamp
	$(BIN)/python -m tests.planted_faults --seed $(SEED)

fuzz-text: $(VENV)/.dev.stamp
	$(BIN)/python -m tests.fuzz_text --count $(COUNT) --seed $(SEED)

bench-compile: $(VENV)/.run.stamp
	$(BIN)/python benchmarks/bench_compile.py

bench-gpu: $(VENV)/.run.stamp
	$(BIN)/python benchmarks/bench_gpu.py --check-all --unfused --out benchmarks/results/bench_gpu.json $(BENCH)

# Arguments go in BENCH, such as BENCH='--degrees 16384 --openfhe-python /opt/python3.10/bin/python'.
bench-cpu: $(VENV)/.run.stamp
	$(BIN)/python benchmarks/bench_cpu.py $(BENCH)

clean:
	rm -rf $(VENV) build dist .lit .pytest_cache .ruff_cache .hypothesis *.egg-info
	find . -name __pycache__ -prune -exec rm -rf {} +
