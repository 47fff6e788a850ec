# Every target sets up .venv by itself and rebuilds only what its sources ask for.
PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
RLSCORE := .venv-rlscore
PYTHON36 ?= python3.6
BIN := $(VENV)/bin
EXPERIMENTS := $(patsubst experiments/%/run.py,experiment-%,$(wildcard experiments/*/run.py))
# Tests of what pages, docstrings and commands on pages say.
DOCUMENTED := $(addprefix tests/,$(addsuffix .py,test_docs test_docstrings test_numbers test_coming_from cli/test_pages \
  persistence/test_format_page))
CPP := $(shell find cpp -name '*.hpp' -o -name '*.cpp')
# One process per core. Tests of a file stay together: they share fixtures, and those that ask for an answer in time do not
# run beside each other. Files start in the order that tests/conftest.py gives them.
PARALLEL := --numprocesses auto --dist loadfile --no-loadscope-reorder
TEST_ARRAYS := tests/estimators/test_array_api.py tests/pairs/test_array_pairs.py
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test test-slow test-gpu docs mutants lint format bench bench-peers bench-rlscore page experiments sanitize clean FORCE

## Tune, train, estimate, evaluate, plot, and write a report, on data inside the package.
demo: $(VENV)/built
	$(BIN)/kernelrank demo --folder build/demo

## All tests that finish within minutes, the doctests and the README's example.
test: $(VENV)/built
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow"

## The longer checks: many more generated cases, Ctrl-C at ten million rows.
test-slow: $(VENV)/built
	$(BIN)/python -m pytest $(PARALLEL) -m slow

## The tests of other array libraries with PyTorch on a GPU; it must be installed in .venv, and nothing is skipped.
test-gpu: $(VENV)/built
	KERNELRANK_DEVICE=cuda $(BIN)/python -m pytest $(TEST_ARRAYS)

## The site in build/site: all examples of pages and docstrings are run, then the gallery; warnings are errors.
docs: $(VENV)/built $(VENV)/docs-tools
	$(BIN)/python -m pytest $(PARALLEL) -q -m "not slow" README.md docs src $(DOCUMENTED)
	rm -rf build/site docs/gallery docs/api/*.rst docs/api/examples
	$(BIN)/python -m sphinx -W --keep-going -q -d build/site-pages -b html -c docs . build/site
	@echo "the site: build/site/index.html"

## One defect at a time in the sources, and whether the tests notice; hours. Words choose files: make mutants ONLY="metrics _bundle".
mutants: $(VENV)/built
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/mutants.py $(ONLY)

## Formatting, linting and types, all of them read-only.
lint: $(VENV)/built $(VENV)/lint-tools
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/mypy

format: $(VENV)/lint-tools
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(CPP)

## Counting, training, paths of alphas, Dask clusters, metrics, reading, tables, relational data, data larger than memory,
## which takes 9 GB of disk, and exports; with KERNELRANK_DATA also on the papers' data. Each writes its report to benchmarks/results; with ARGS=--quick they
## take small sizes and write nothing.
bench: $(VENV)/built
	$(BIN)/python -m benchmarks.counting $(ARGS)
	$(BIN)/python -m benchmarks.training $(ARGS)
	$(BIN)/python -m benchmarks.path $(ARGS)
	$(BIN)/python -m benchmarks.scaling $(ARGS)
	$(BIN)/python -m benchmarks.metrics $(ARGS)
	$(BIN)/python -m benchmarks.reading $(ARGS)
	$(BIN)/python -m benchmarks.tables $(ARGS)
	$(BIN)/python -m benchmarks.relational $(ARGS)
	$(BIN)/python -m benchmarks.out_of_core $(ARGS)
	$(BIN)/python -m benchmarks.exports $(ARGS)

## kernelrank and its peers side by side, in an environment of its own; dlib takes long to build, once. Reports as above.
bench-peers: $(PEERS)/built
	$(PEERS)/bin/python -m benchmarks.peers.run $(ARGS)
	$(PEERS)/bin/python -m benchmarks.peers.concordance $(ARGS)
	$(PEERS)/bin/python -m benchmarks.peers.survival $(ARGS)
	$(PEERS)/bin/python -m benchmarks.peers.ndcg $(ARGS)
	$(PEERS)/bin/python -m benchmarks.peers.dask_rankers $(ARGS)
	$(PEERS)/bin/python -m benchmarks.peers.least_squares $(ARGS)

## RankRLS beside RLScore, whose release compiles with Python 3.6 only: PYTHON36=path/to/python3.6 says where that is.
bench-rlscore: $(VENV)/built $(RLSCORE)/built
	$(BIN)/python -m benchmarks.peers.rlscore $(ARGS)

## The pages docs/benchmarks.md and docs/reproduction.md, and the numbers that README and docs cite, from the committed
## reports; measures nothing.
page: $(VENV)/built
	$(BIN)/python -m benchmarks.page
	$(BIN)/python -m experiments.reproduction

## One of the papers' studies, by the name of its folder: make experiment-letor. Most need KERNELRANK_DATA;
## with ARGS=--quick they take small generated data and some seconds, and write nothing.
experiment-%: $(VENV)/built
	$(BIN)/python -m experiments.$*.run $(ARGS)

## All of them, one after the other: some hours; with ARGS=--quick some minutes.
experiments: $(EXPERIMENTS)

## The tests of the compiled core under the address and undefined-behaviour sanitizers.
sanitize: $(VENV)/built
	$(BIN)/cmake -S . -B build/sanitize -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKERNELRANK_SANITIZE=ON \
	  -DPython_EXECUTABLE=$(abspath $(BIN)/python) -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) >/dev/null
	$(BIN)/cmake --build build/sanitize
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 \
	  KERNELRANK_CORE=$(abspath build/sanitize) $(BIN)/python -m pytest -p no:cacheprovider tests/pairs tests/losses tests/io tests/test_dense.py tests/test_entries.py tests/solvers/test_products.py tests/solvers/test_hold_out.py tests/kernels/test_all_paths.py -m "not slow"

clean:
	rm -rf build $(VENV) $(PEERS) $(RLSCORE) dist

$(VENV)/tools: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade "pip>=25.1"
	$(BIN)/python -m pip install -q --group build --group test
	touch $@

$(VENV)/lint-tools: $(VENV)/tools
	$(BIN)/python -m pip install -q --group lint
	touch $@

$(VENV)/docs-tools: $(VENV)/tools
	$(BIN)/python -m pip install -q --group docs
	touch $@

# The package is installed in place: only C++ sources and new or removed modules need another build.
$(VENV)/built: $(VENV)/tools $(VENV)/modules CMakeLists.txt $(CPP)
	$(BIN)/python -m pip install -q --no-build-isolation --editable ".[plots]"
	touch $@

$(VENV)/modules: $(VENV)/tools FORCE
	@find src -name '*.py' | sort > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(PEERS)/tools: benchmarks/peers/requirements.txt
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install -q --upgrade "pip>=25.1"
	$(PEERS)/bin/python -m pip install -r $<
	touch $@

# As a user gets it, built in a folder of its own: the build in place keeps its cache.
$(PEERS)/built: $(PEERS)/tools pyproject.toml CMakeLists.txt $(CPP) $(shell find src -name '*.py')
	$(PEERS)/bin/python -m pip install -q --config-settings "build-dir=build/peers-{wheel_tag}" .
	touch $@

$(RLSCORE)/built: benchmarks/peers/requirements-rlscore.txt
	test -x $(RLSCORE)/bin/python || $(PYTHON36) -m venv $(RLSCORE)
	$(RLSCORE)/bin/python -m pip install -q --upgrade "pip<22"
	$(RLSCORE)/bin/python -m pip install -q -r $<
	$(RLSCORE)/bin/python -m pip install -q --no-deps --no-build-isolation rlscore==0.8.1
	touch $@
