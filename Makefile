# The commands of the README. A fresh machine needs Python 3.11 or later, make and git.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
YEAR ?= 2013
# Test processes, one thread each; a file goes to one of them whole, in order of name.
WORKERS ?= 2
# Mark finished installations, for use and for development; a new pin or dependency makes them stale.
STAMP := $(VENV)/installed
TOOLS := $(VENV)/installed-dev
# Compiling every module at once takes longer than compiling those that are imported.
PIP := $(BIN)/pip install --quiet --no-compile -c constraints.txt
# Container images set it, and then each process compiles anew what it imports.
unexport PYTHONDONTWRITEBYTECODE
# Ordinary targets take no folder or setting from outside: they run on the generated sample.
ALONE := env -u DATA_ROOT -u RUNS_ROOT $(foreach name,$(filter SCITLAKE_%,$(.VARIABLES)),-u $(name))

.PHONY: help install demo benchmark test test-real lint bench docs clean

help: ## Say what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: $(TOOLS) ## Make .venv with the pinned versions and the tools of the tests

$(STAMP): constraints.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[train,eval]'
	touch $@

$(TOOLS): $(STAMP)
	$(PIP) -e '.[train,eval,dev]'
	touch $@

# Smaller encoders and fewer steps than the preset's, so that the demo fits its ten minutes.
DEMO := --year $(YEAR) --preset sample --set mlm.layers=2 --set mlm.tokens=300000 \
	--set tune.steps=40 --set static.seed_dimensions=256 --set seeded.steps=24
DEMO_RUNS := sample-$(YEAR) $(addprefix sample-$(YEAR),-ci -static -static-ci)

# The tasks of the table in the README; `make benchmark` scores them all.
DEMO_TASKS := $(addprefix --task ,cpc_section grant_year forward_citation patent_cite patent_cocite \
	paper_cite)

demo: $(STAMP) ## Sample, lake, one vintage, its scores: under 10 minutes on two cores
	$(ALONE) $(BIN)/lake sample
	$(ALONE) $(BIN)/lake build
	$(ALONE) $(BIN)/pytrain all $(DEMO) --force
	$(ALONE) $(BIN)/pytrain tokenizer --year $(YEAR) --terms warehouse/lake/sample/sample.json
	$(ALONE) $(BIN)/pyeval run $(DEMO_RUNS) tfidf-svd bm25 $(DEMO_TASKS) --no-few-shot --no-seen-pairs \
		> runs/demo.tsv
	$(ALONE) $(BIN)/pyeval report --out runs/report.md --format markdown --picture runs/report.png
	$(ALONE) $(BIN)/pyeval report --out runs/report.html --format html
	$(ALONE) $(BIN)/pyeval report

# The stages of the static vintage, which no encoder with layers has to be trained for.
LIGHT := tokenizer node2vec neighbours static

# A year of fewer than 200 examples has no test split, which would leave the sample's smaller tasks
# without one.
SMALL := --set min_year_examples=20

benchmark: $(STAMP) ## Every task on the sample, by a static vintage and TF-IDF: under 10 minutes
	$(ALONE) $(BIN)/lake sample
	$(ALONE) $(BIN)/lake build $(SMALL)
	$(ALONE) $(BIN)/pyeval tasks --sizes
	for stage in $(LIGHT); do \
		$(ALONE) $(BIN)/pytrain $$stage --year $(YEAR) --preset sample --force; \
	done
	$(ALONE) $(BIN)/pyeval run sample-$(YEAR)-static tfidf-svd > runs/benchmark.tsv
	$(ALONE) $(BIN)/pyeval report

test: $(TOOLS) ## The tests that need nothing but this repository
	$(ALONE) OMP_NUM_THREADS=1 $(BIN)/pytest -m "not slow and not real and not gpu" \
		-n $(WORKERS) --dist loadfile --no-loadscope-reorder

test-real: $(TOOLS) ## The tests on real records: make test-real DATA_ROOT=<folder>
	@test -n "$${DATA_ROOT:-}" || { echo "name the folder: make test-real DATA_ROOT=<folder>" >&2; exit 2; }
	DATA_ROOT="$$DATA_ROOT" $(BIN)/pytest -m real

lint: $(TOOLS) ## ruff and sqlfluff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/sqlfluff lint --processes 2 models_sql

bench: $(TOOLS) ## Time the kernels, alone on the machine
	$(ALONE) OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python -m tests.bench --json runs/bench.json

docs: $(STAMP) ## One offline page of data lineage
	$(ALONE) $(BIN)/lake docs

clean: ## Remove what was built, but not .venv
	rm -rf warehouse/lake runs target logs build dist .pytest_cache .ruff_cache
	find warehouse pytrain pyeval tests -name __pycache__ -type d -prune -exec rm -rf {} +
