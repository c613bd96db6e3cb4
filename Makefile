# SPDX-License-Identifier: Apache-2.0
#
# The front door: each target installs what it needs, then asks CMake (CMakePresets.json).
.DEFAULT_GOAL := help
.PHONY: help setup demo tool test test-release test-asan test-tsan bench format lint install clean

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 10

setup:
	@scripts/setup

demo: setup  ## the five operators on scenes one can see, checked against an independent oracle
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target detops_cli -j $(JOBS)
	@build/release/tools/detops/detops demo --out build/demo/index.html

tool: setup  ## the command line, build/release/tools/detops/detops
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target detops_cli -j $(JOBS)

test: test-release test-asan test-tsan  ## all tests: optimised, under ASan+UBSan, threads under TSan

test-release test-asan: test-%: setup
	cmake --preset $* >/dev/null
	cmake --build --preset $* -j $(JOBS)
	ctest --preset $*

# The callers' threads: oneTBB's own are not instrumented, so handles get one each.
test-tsan: setup
	cmake --preset tsan >/dev/null
	cmake --build --preset tsan --target api_test -j $(JOBS)
	ctest --preset tsan

bench: setup  ## every implementation in the table, timed
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target bench -j $(JOBS)
	@build/release/bench/bench $(BENCH_ARGS)

format:  ## clang-format on every file
	@scripts/setup lint
	git ls-files '*.h' '*.hpp' '*.c' '*.cc' | xargs clang-format -i

lint: setup  ## clang-format and clang-tidy, changing nothing
	@scripts/setup lint
	git ls-files '*.h' '*.hpp' '*.c' '*.cc' | xargs clang-format --dry-run -Werror
	cmake --preset dev >/dev/null
	git ls-files 'src/*.cc' | grep -v /test | xargs clang-tidy --quiet -p build/dev

install: setup  ## into PREFIX (default /usr/local)
	cmake --preset release >/dev/null
	cmake --build --preset release --target detops detops_cli -j $(JOBS)
	cmake --install build/release --prefix $(PREFIX)

clean:  ## removes build/
	rm -rf build
