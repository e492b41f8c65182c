# The commands of the house. On Linux, SQLite's header comes from a package; on macOS it is in
# the SDK.

SWIFT ?= swift
VERIFY = cloudsync-verify
# Warnings are errors in our own builds.
export CLOUDSYNC_STRICT ?= 1
SEEDS ?= 20000
RELEASE_SEEDS ?= 1000000
STORE_SEEDS ?= 2000
SOAK ?= 300
TAPES ?= 5000
RUNS ?= 100000
SQLITE_INSTALL = apt-get install -y libsqlite3-dev

.PHONY: help demo test check bench bench-scale bench-build simulate simulate-release \
  simulate-stores planted soak siege differential crash fuzz fuzz-release fuzz-planted fuzz-tool \
  apple-check by-url docs thread-sanitizer address-sanitizer leaks-sanitizer sqlite format

help:
	@echo 'make demo      run the example stores on two devices and two accounts, on real input'
	@echo 'make test      build everything and run all tests'
	@echo 'make check     formatting, imports, then all tests'
	@echo 'make bench     print what things cost, as ratios, and plot them into Docs/Performance'
	@echo 'make bench-scale  print what 10,000, 100,000 and 1,000,000 records take'
	@echo 'make bench-build  print how long a clean build and all tests take'
	@echo 'make simulate  run whole engines in $(SEEDS) seeded worlds with faults (SEEDS=n)'
	@echo 'make simulate-release  run $(RELEASE_SEEDS) seeded worlds of the machines alone'
	@echo 'make simulate-stores  run the example stores in $(STORE_SEEDS) worlds each (STORE_SEEDS=n)'
	@echo 'make planted   plant faults into a copy of the sources and count the seeds to find each'
	@echo 'make soak      devices write for 5 minutes to a server that is killed every 10 s (SOAK=n s)'
	@echo 'make siege     besiege the HTTP server with hostile and with slow clients'
	@echo 'make differential  play $(TAPES) random tapes to a reference and three servers (TAPES=n)'
	@echo 'make crash     cut the power, damage bytes and kill processes; look for what was safe'
	@echo 'make fuzz      give every reader of bytes from outside $(RUNS) inputs (RUNS=n)'
	@echo 'make fuzz-release  the same with 10,000,000 inputs a reader'
	@echo 'make fuzz-planted  put a bug into every reader, and see that fuzzing finds it'
	@echo 'make thread-sanitizer   all tests under the thread sanitizer (TARGETS=name for one target)'
	@echo 'make address-sanitizer  all tests under the address sanitizer'
	@echo 'make leaks-sanitizer    all tests, or TARGETS, with a look for leaks at the end; slow'
	@echo 'make docs      build the documentation archives into .build/documentation'
	@echo 'make by-url    build and test an app that depends on this package by URL'
	@echo 'make apple-check  type-check the modules as macOS would see them, on Linux'
	@echo 'make format    format all Swift files'

demo: sqlite
	$(SWIFT) build -c release --product stores
	@home=$$(mktemp -d) && trap 'rm -rf "$$home"' EXIT INT TERM \
	  && "$$($(SWIFT) build -c release --show-bin-path)/stores" --home "$$home" demo

test: sqlite
	$(SWIFT) test --disable-xctest

check: sqlite
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Examples
	$(SWIFT) build --build-tests --explicit-target-dependency-import-check error
	$(SWIFT) test --disable-xctest

bench: sqlite
	$(SWIFT) build -c release --product cloudsync-bench
	"$$($(SWIFT) build -c release --show-bin-path)/cloudsync-bench" --write Docs/Performance

bench-scale: sqlite
	$(SWIFT) run -c release cloudsync-bench --scale

# P18: a clean debug build of everything, and then all tests, in a folder of its own.
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
	  --repeat 500 --second-process --all-situations

simulate-release: sqlite
	$(SWIFT) run -c release $(VERIFY) simulate --seeds $(RELEASE_SEEDS) --repeat 1000

simulate-stores: sqlite
	$(SWIFT) run -c release $(VERIFY) stores --seeds $(STORE_SEEDS)

planted: sqlite
	$(SWIFT) build --product $(VERIFY)
	SWIFT="$(SWIFT)" "$$($(SWIFT) build --show-bin-path)/$(VERIFY)" planted

soak: sqlite
	$(SWIFT) run -c release $(VERIFY) soak --seconds $(SOAK)

siege: sqlite
	$(SWIFT) run -c release $(VERIFY) siege hostile
	$(SWIFT) run -c release $(VERIFY) siege hostile --storage file
	$(SWIFT) run -c release $(VERIFY) siege slow

differential: sqlite
	$(SWIFT) run -c release $(VERIFY) differential --tapes $(TAPES)

docs: sqlite
	.ci/docs

by-url: sqlite
	.ci/by-url

apple-check:
	.ci/apple-check/apple-check . --cache .build/apple-check

thread-sanitizer address-sanitizer leaks-sanitizer: sqlite
	.ci/sanitize $(@:-sanitizer=) $(TARGETS)

crash: sqlite
	$(SWIFT) build -c release --product $(VERIFY)
	@"$$($(SWIFT) build -c release --show-bin-path)/$(VERIFY)" crash

fuzz: fuzz-tool
	@$(FUZZ) $(RUNS)

fuzz-release: fuzz-tool
	@$(FUZZ) 10000000

fuzz-planted: fuzz-tool
	@PLANTED=1 OUTPUT=.build/fuzz-planted $(FUZZ) 5000000

# Sanitizers see nothing in a debug build, and the flags are none that a manifest may give. SwiftPM
# must know that the fuzzer brings its own main; of two flags the compiler obeys the last alone, so
# both sanitizers stand in one. The linker must not take coverage for dead code.
FUZZ = .ci/fuzz "$(FUZZ_BUILD)/release/cloudsync-fuzz"
FUZZ_BUILD ?= .build/fuzz

fuzz-tool: sqlite
	CLOUDSYNC_FUZZ=1 $(SWIFT) build -c release --product cloudsync-fuzz \
	  --scratch-path $(FUZZ_BUILD) --sanitize=fuzzer -Xswiftc -sanitize=address,fuzzer \
	  -Xswiftc -enable-testing -Xswiftc -parse-as-library -Xswiftc -use-ld=lld \
	  -Xlinker -z -Xlinker nostart-stop-gc
	SWIFT="$(SWIFT)" .ci/fuzz-link $(FUZZ_BUILD)/release

format:
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests Examples

# Sees to it that sqlite3.h can be found: installs it where that needs no password, and says the
# one command to run where it does.
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
