# SPDX-License-Identifier: Apache-2.0
#
# The front door: each target installs what it needs, then asks CMake (CMakePresets.json).
.DEFAULT_GOAL := help
.PHONY: help setup demo tool test test-release test-asan test-tsan test-python fuzz wheel bench format \
        lint install clean

PREFIX ?= /usr/local
CUDA ?= OFF
MLU ?= OFF
JOBS ?= $(shell nproc)
PYTHON ?= python3
VENV := build/venv
# What the Python tests meet besides NumPy. PyTorch is 5 GB with its CUDA libraries, so it is asked
# for: make test-python FRAMEWORKS="torchvision jax paddlepaddle sahi supervision"
FRAMEWORKS ?= jax sahi supervision
FUZZ_SECONDS ?= 60

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 10

setup:
	@scripts/setup

# In a folder of its own, for this machine alone and with nothing but what it needs.
demo: setup  ## operators on scenes one can see, checked against an independent oracle
	@cmake --preset release -B build/demo -DDETOPS_CUDA=OFF -DDETOPS_QUICK=ON -DDETOPS_BUILD_TESTS=OFF \
	  -DDETOPS_BUILD_EXAMPLES=OFF -DDETOPS_BUILD_BANG=OFF >/dev/null
	@cmake --build build/demo --target detops_demo -j $(JOBS)
	@build/demo/tools/detops/detops_demo build/demo/index.html

tool: setup  ## the command line, build/release/tools/detops/detops
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target detops_cli -j $(JOBS)

test: test-release test-asan test-tsan test-python  ## all tests: optimised, under ASan+UBSan, threads under TSan, Python

# Of CUDA's architectures the oldest and the newest: compiling for those between tells no more.
options_release := '-DDETOPS_CUDA_ARCHITECTURES=75-real;120-real'
test-release test-asan: test-%: setup
	cmake --preset $* $(options_$*) >/dev/null
	cmake --build --preset $* -j $(JOBS)
	ctest --preset $*

# Many callers with one thread each, and loops on several threads.
test-tsan: setup
	cmake --preset tsan >/dev/null
	cmake --build --preset tsan --target threads_test -j $(JOBS)
	ctest --preset tsan

# pip_wheel CUDA: into build/wheels, by the environment's Python. In a build folder of its own, and
# nothing else may appear in the source tree.
define pip_wheel
	@PYTHON=$(PYTHON) scripts/setup python
	$(PYTHON) -m venv $(VENV)
	rm -rf build/wheels
	@$(source_tree) >build/tree-before
	$(VENV)/bin/pip wheel -q --no-deps -w build/wheels \
	  --config-settings=cmake.define.DETOPS_CUDA=$(1) \
	  --config-settings=cmake.define.DETOPS_CUDA_ARCHITECTURES=ALL \
	  --config-settings='build-dir=build/python-{wheel_tag}' .
	@$(source_tree) | diff build/tree-before - || { echo "pip wheel wrote into the source tree"; exit 1; }
endef
# The files that git does not know.
source_tree := git ls-files --others -- . ':!build'

wheel: setup  ## a Python wheel in build/wheels, with the CUDA plug-in where nvcc is found; and where it runs
	$(call pip_wheel,AUTO)
	@$(VENV)/bin/pip install -q auditwheel
	@$(VENV)/bin/auditwheel show build/wheels/detops-*.whl

fuzz:  ## random inputs that look for more, in every target of tests/fuzz, for FUZZ_SECONDS each
	@scripts/setup
	@scripts/setup fuzz
	@JOBS=$(JOBS) scripts/fuzz-run pack
	@scripts/fuzz-run run $(FUZZ_SECONDS) $(JOBS)

# On the wheel, in an environment that has nothing else of ours. Without the CUDA plug-in, which the
# C++ tests build already.
test-python: setup  ## the Python package's tests
	$(call pip_wheel,OFF)
	$(VENV)/bin/pip install -q --force-reinstall --no-deps build/wheels/detops-*.whl
	$(VENV)/bin/pip install -q 'detops[test]' $(FRAMEWORKS)
	$(VENV)/bin/python -m pytest -q
	@for cap in $$($(VENV)/bin/python python/tests/narrower_caps.py); do \
	  echo "DETOPS_CPU=$$cap"; DETOPS_CPU=$$cap $(VENV)/bin/python -m pytest -q || exit 1; done

bench: tool  ## every CPU implementation on the sizes of networks and beyond; writes build/bench.json
	@build/release/tools/detops/detops bench $(CASES) --device cpu --group network scale --scaling --out build/bench.json

format: $(VENV)/bin/ruff  ## clang-format and ruff on every file
	@scripts/setup lint
	$(VENV)/bin/ruff check -q --fix python && $(VENV)/bin/ruff format -q python
	git ls-files '*.h' '*.hpp' '*.c' '*.cc' '*.cu' '*.cuh' | xargs clang-format -i

lint: setup $(VENV)/bin/ruff  ## clang-format, clang-tidy and ruff, changing nothing
	@scripts/setup lint
	$(VENV)/bin/ruff check -q python && $(VENV)/bin/ruff format -q --check python
	git ls-files '*.h' '*.hpp' '*.c' '*.cc' '*.cu' '*.cuh' | xargs clang-format --dry-run -Werror
	cmake --preset dev >/dev/null
	git ls-files 'src/*.cc' | grep -v /test | xargs clang-tidy --quiet -p build/dev

$(VENV)/bin/ruff:
	@PYTHON=$(PYTHON) scripts/setup python
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install -q ruff

install: setup  ## into PREFIX (default /usr/local); CUDA=ON and MLU=ON for those plug-ins, too
	cmake --preset release -DDETOPS_CUDA=$(CUDA) -DDETOPS_MLU=$(MLU) >/dev/null
	cmake --build --preset release --target detops detops_cli $(if $(filter OFF,$(CUDA)),,detops_cuda) \
	  $(if $(filter OFF,$(MLU)),,detops_mlu) -j $(JOBS)
	cmake --install build/release --prefix $(PREFIX)

clean:  ## removes build/
	rm -rf build
