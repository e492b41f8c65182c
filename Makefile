# The commands of this repository: `make help` lists them.
#
# The tests need SQLite's header. It is part of the SDK on macOS; on Linux `make sqlite` installs it.

SWIFT ?= swift
VERIFY = cloudsync-verify
SEEDS ?= 20000
RELEASE_SEEDS ?= 1000000
STORE_SEEDS ?= 2000
SOAK ?= 300
TAPES ?= 5000
RUNS ?= 100000
MUTANTS ?= 200
MUTANT_SEED ?= 1
# RECORD=1 stores the figures of a run in Docs/Reliability.json and in the table of its page.
WRITE = $(if $(RECORD),--write Docs/Reliability.json)
SQLITE_INSTALL = apt-get install -y libsqlite3-dev
POSTGRESQL_INSTALL = apt-get install -y --no-install-recommends libpq-dev postgresql
CLUSTER_TESTS ?= PostgreSQL|TransportTests
CLUSTER_SOAK ?= 600
CLUSTER_TAPES ?= 1000
# A stall longer than a server waits for PostgreSQL; one of a minute needs STALL=60.
STALL ?= 3
CLUSTER_VERIFY = $(SWIFT) run -c release --traits PostgreSQL --scratch-path .build-postgresql $(VERIFY)

.PHONY: help demo test cluster-test cluster-bench cluster-soak cluster-differential cluster-planted libpq \
  check bench bench-scale bench-build simulate simulate-release simulate-stores planted mutants \
  mutants-release soak siege differential crash fuzz fuzz-release fuzz-planted fuzz-tool \
  release-check apple-check by-url docs thread-sanitizer address-sanitizer leaks-sanitizer sqlite format

help:
	@echo 'make demo       run the example stores with three devices and three accounts'
	@echo 'make test       build everything and run all tests'
	@echo 'make cluster-test  run the tests of the storage in PostgreSQL'
	@echo 'make cluster-bench  measure the storage in PostgreSQL'
	@echo 'make check      check the formatting and the imports, then run all tests'
	@echo 'make format     format all Swift files'
	@echo 'make bench      run the benchmarks and write the table of Docs/Performance'
	@echo 'make bench-scale  measure the transfer of 10,000, 100,000 and 1,000,000 records'
	@echo 'make bench-build  measure a clean build and all tests'
	@echo
	@echo 'Verification runs; RECORD=1 adds the figures of a run to Docs/Reliability.md:'
	@echo 'make simulate   $(SEEDS) seeded simulations of whole engines with faults (SEEDS=n)'
	@echo 'make simulate-release  $(RELEASE_SEEDS) simulations of the state machines alone'
	@echo 'make simulate-stores   $(STORE_SEEDS) simulations of each example store (STORE_SEEDS=n)'
	@echo 'make planted    plant faults into a copy of the sources; each must be found'
	@echo 'make mutants    $(MUTANTS) mechanical changes of the sources; the tests must detect them (MUTANT_SEED=s)'
	@echo 'make mutants-release   the same with 3,000 changes'
	@echo 'make soak       devices write for $(SOAK) s to a server that is killed every 10 s (SOAK=s)'
	@echo 'make siege      send hostile and slow requests to the HTTP server'
	@echo 'make differential  compare a reference with three servers in $(TAPES) runs (TAPES=n)'
	@echo 'make cluster-soak  the soak with three servers on PostgreSQL, $(CLUSTER_SOAK) s (CLUSTER_SOAK=s)'
	@echo 'make cluster-differential  compare with a server on PostgreSQL, too (CLUSTER_TAPES=n)'
	@echo 'make cluster-planted  faults of the storage in PostgreSQL, which the soak must find'
	@echo 'make crash      power cuts, failing calls, damaged files and killed processes'
	@echo 'make release-check  all of these and the runs below; writes the whole table of Docs/Reliability.md'
	@echo
	@echo 'make fuzz       $(RUNS) random inputs for each reader of external bytes (RUNS=n)'
	@echo 'make fuzz-release  the same with 10,000,000 inputs for each reader'
	@echo 'make fuzz-planted  plant a fault into each reader; fuzzing must find it'
	@echo 'make thread-sanitizer   all tests with the thread sanitizer (TARGETS=name for one target)'
	@echo 'make address-sanitizer  all tests with the address sanitizer'
	@echo 'make leaks-sanitizer    all tests, or TARGETS, with a search for leaks at the end; slow'
	@echo 'make docs       build the documentation archives into .build/documentation'
	@echo 'make by-url     build and test an app that depends on this package by URL'
	@echo 'make apple-check  type-check the modules on Linux as for macOS'

demo: sqlite
	$(SWIFT) build -c release --product stores
	@home=$$(mktemp -d) && trap 'rm -rf "$$home"' EXIT INT TERM \
	  && "$$($(SWIFT) build -c release --show-bin-path)/stores" --home "$$home" demo

# The only test that uses XCTest, then all others.
test: sqlite
	$(SWIFT) test --disable-swift-testing --filter XCTestTests
	$(SWIFT) test --disable-xctest

# The tests that need PostgreSQL; the server of .ci/postgresql is removed at their end. Package.swift
# names the targets that have such tests; other tests are not built.
cluster-test: export CLOUDSYNC_TESTS = cluster
cluster-test: sqlite libpq
	.ci/postgresql $(SWIFT) test --disable-xctest --traits PostgreSQL \
	  --scratch-path .build-postgresql --filter "$(CLUSTER_TESTS)"

# P31: the storage in PostgreSQL.
cluster-bench: sqlite libpq
	$(SWIFT) build -c release --traits PostgreSQL --scratch-path .build-postgresql \
	  --product cloudsync-bench
	$(SWIFT) build -c release --traits PostgreSQL --scratch-path .build-postgresql \
	  --product cloudsync
	.ci/postgresql .build-postgresql/release/cloudsync-bench --only P31

# Warnings are errors. The other targets have the flags of a plain `swift build`, so that they use its
# results; CLOUDSYNC_STRICT=1 in the environment makes warnings errors in all of them.
check: export CLOUDSYNC_STRICT = 1
check: sqlite
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Examples
	$(SWIFT) build --build-tests --explicit-target-dependency-import-check error
	$(MAKE) test

bench: sqlite
	$(SWIFT) build -c release --product cloudsync
	$(SWIFT) build -c release --product cloudsync-bench
	"$$($(SWIFT) build -c release --show-bin-path)/cloudsync-bench" --write Docs/Performance

bench-scale: sqlite
	$(SWIFT) run -c release cloudsync-bench --scale

# P18: a clean debug build of everything and all tests, in a new folder.
bench-build: sqlite
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT INT TERM \
	  && start=$$(date +%s) \
	  && $(SWIFT) build --build-tests --scratch-path "$$folder" >/dev/null \
	  && built=$$(date +%s) \
	  && $(SWIFT) test --skip-build --disable-xctest --scratch-path "$$folder" >/dev/null \
	  && tested=$$(date +%s) \
	  && echo "P18  clean debug build    $$((built - start)) s  bar 180 s" \
	  && echo "P18  whole test suite     $$((tested - built)) s  bar 300 s"

simulate: sqlite
	$(SWIFT) run -c release $(VERIFY) simulate --engine --seeds $(SEEDS) \
	  --repeat 500 --second-process --all-situations $(WRITE)

simulate-release: sqlite
	$(SWIFT) run -c release $(VERIFY) simulate --seeds $(RELEASE_SEEDS) --repeat 1000 $(WRITE)

simulate-stores: sqlite
	$(SWIFT) run -c release $(VERIFY) stores --seeds $(STORE_SEEDS) $(WRITE)

planted: sqlite
	$(SWIFT) build --product $(VERIFY)
	SWIFT="$(SWIFT)" "$$($(SWIFT) build --show-bin-path)/$(VERIFY)" planted $(WRITE)

mutants: sqlite
	$(SWIFT) run $(VERIFY) mutants --count $(MUTANTS) --seed $(MUTANT_SEED) $(WRITE)

mutants-release: MUTANTS = 3000
mutants-release: mutants

soak: sqlite
	$(SWIFT) run -c release $(VERIFY) soak --seconds $(SOAK) $(WRITE)

# Three servers on one PostgreSQL with a synchronous standby, interrupted in all ways.
cluster-soak: sqlite libpq
	$(SWIFT) build -c release --product $(VERIFY) --traits PostgreSQL --scratch-path .build-postgresql
	.ci/postgresql --standby sh -c '"$$0" "$$@" --data "$$CLOUDSYNC_POSTGRESQL"' \
	  $(CLUSTER_VERIFY) soak --seconds $(CLUSTER_SOAK) --servers 3 --kill-every 2 \
	  --interrupt all --skew 300 --stall $(STALL) $(WRITE)

cluster-differential: sqlite libpq
	.ci/postgresql $(CLUSTER_VERIFY) differential --tapes $(CLUSTER_TAPES) $(WRITE)

cluster-planted: sqlite libpq
	$(SWIFT) build --product $(VERIFY)
	SWIFT="$(SWIFT)" .ci/postgresql --standby \
	  "$$($(SWIFT) build --show-bin-path)/$(VERIFY)" planted --cluster $(WRITE)

siege: sqlite
	$(SWIFT) run -c release $(VERIFY) siege hostile $(WRITE)
	$(SWIFT) run -c release $(VERIFY) siege hostile --storage file $(WRITE)
	$(SWIFT) run -c release $(VERIFY) siege slow $(WRITE)

differential: sqlite
	$(SWIFT) run -c release $(VERIFY) differential --tapes $(TAPES) $(WRITE)

docs: sqlite
	.ci/docs

by-url: sqlite
	.ci/by-url

apple-check:
	.ci/apple-check/apple-check . --cache .build/apple-check
	.ci/apple-check/synced-store . .build/apple-check

thread-sanitizer address-sanitizer leaks-sanitizer: sqlite
	.ci/sanitize $(@:-sanitizer=) $(TARGETS)

crash: sqlite
	$(SWIFT) build -c release --product $(VERIFY)
	@"$$($(SWIFT) build -c release --show-bin-path)/$(VERIFY)" crash $(WRITE)

fuzz: fuzz-tool
	@$(FUZZ) $(RUNS)

fuzz-release: fuzz-tool
	@$(FUZZ) 10000000

fuzz-planted: fuzz-tool
	@PLANTED=1 OUTPUT=.build/fuzz-planted $(FUZZ) 5000000

# The sanitizers need a release build, and flags that a package manifest can't contain. SwiftPM must
# know that the fuzzer has its own main function. The compiler uses only the last of two `-sanitize`
# flags, so one flag names both. The linker must not remove the coverage data as dead code.
FUZZ = .ci/fuzz "$(FUZZ_BUILD)/release/cloudsync-fuzz"
FUZZ_BUILD ?= .build/fuzz

fuzz-tool: sqlite
	CLOUDSYNC_FUZZ=1 $(SWIFT) build -c release --product cloudsync-fuzz \
	  --scratch-path $(FUZZ_BUILD) --sanitize=fuzzer -Xswiftc -sanitize=address,fuzzer \
	  -Xswiftc -enable-testing -Xswiftc -parse-as-library -Xswiftc -use-ld=lld \
	  -Xlinker -z -Xlinker nostart-stop-gc
	SWIFT="$(SWIFT)" .ci/fuzz-link $(FUZZ_BUILD)/release

# Each run is recorded in a new table, even if an earlier one failed. The working tree must have no changes,
# so that the commit in the table is the one that was measured.
RELEASE_RUNS = simulate-release simulate simulate-stores crash differential soak siege planted \
  mutants-release
RELEASE_CLUSTER_RUNS = cluster-differential cluster-soak cluster-planted
RELEASE_PROGRAMS = fuzz-release fuzz-planted thread-sanitizer address-sanitizer leaks-sanitizer

release-check: RECORD = 1
release-check: SEEDS = 100000
release-check: sqlite libpq
	@test -z "$$(git status --porcelain --untracked-files=no)" \
	  || { echo 'error: commit the changes first' >&2; exit 1; }
	$(SWIFT) build -c release --product $(VERIFY)
	@rm -f Docs/Reliability.json; status=0; \
	verify="$$($(SWIFT) build -c release --show-bin-path)/$(VERIFY)"; \
	for run in $(RELEASE_RUNS) $(RELEASE_CLUSTER_RUNS); do \
	  $(MAKE) $$run RECORD=1 SEEDS=$(SEEDS) || status=1; \
	done; \
	for run in $(RELEASE_PROGRAMS); do \
	  SWIFT="$(SWIFT)" MAKEFLAGS=--no-print-directory "$$verify" program make $$run $(WRITE) || status=1; \
	done; exit $$status

format:
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests Examples

# Checks for sqlite3.h; installs it if that needs no password, otherwise prints the command to run.
sqlite:
	@command -v $(SWIFT) >/dev/null || { \
	  echo 'error: Swift is not installed; see https://www.swift.org/install' >&2; exit 1; }
	@if [ "$$(uname -s)" != Linux ]; then exit 0; fi; \
	if echo '#include <sqlite3.h>' | clang -E -x c - >/dev/null 2>&1; then exit 0; fi; \
	if echo '#include <sqlite3.h>' | cc -E -x c - >/dev/null 2>&1; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then \
	  echo 'error: sqlite3.h is missing; install the development files of SQLite 3' >&2; exit 1; \
	fi; \
	if [ "$$(id -u)" = 0 ]; then as_root=''; \
	elif sudo -n true 2>/dev/null; then as_root='sudo -n'; \
	else \
	  echo 'error: sqlite3.h is missing; run: sudo $(SQLITE_INSTALL)' >&2; exit 1; \
	fi; \
	echo 'sqlite3.h is missing; installing libsqlite3-dev'; \
	export DEBIAN_FRONTEND=noninteractive; \
	$$as_root $(SQLITE_INSTALL) || { $$as_root apt-get update && $$as_root $(SQLITE_INSTALL); }

# Checks for libpq and PostgreSQL; installs them if that needs no password.
libpq:
	@if { pg_config --version && { command -v initdb || ls /usr/lib/postgresql/*/bin/initdb; }; } \
	  >/dev/null 2>&1; then exit 0; fi; \
	if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  { apt-get update && $(POSTGRESQL_INSTALL); } >/dev/null; \
	else echo 'error: PostgreSQL or libpq is missing; run: sudo $(POSTGRESQL_INSTALL)' >&2; exit 1; fi
