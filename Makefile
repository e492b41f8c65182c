# The commands of the house. On Linux, SQLite's header comes from a package; on macOS it is in
# the SDK.

SWIFT ?= swift
SEEDS ?= 20000
RELEASE_SEEDS ?= 1000000
STORE_SEEDS ?= 2000
SOAK ?= 300
SQLITE_INSTALL = apt-get install -y libsqlite3-dev

.PHONY: help demo test check bench simulate simulate-release simulate-stores soak siege sqlite format

help:
	@echo 'make demo      run the example stores on two devices and two accounts, on real input'
	@echo 'make test      build everything and run all tests'
	@echo 'make check     formatting, imports, then all tests'
	@echo 'make bench     print what things cost, as ratios'
	@echo 'make simulate  run whole engines in $(SEEDS) seeded worlds with faults (SEEDS=n)'
	@echo 'make simulate-release  run $(RELEASE_SEEDS) seeded worlds of the machines alone'
	@echo 'make simulate-stores  run the example stores in $(STORE_SEEDS) worlds each (STORE_SEEDS=n)'
	@echo 'make soak      devices write for 5 minutes to a server that is killed every 10 s (SOAK=n s)'
	@echo 'make siege     besiege the HTTP server with hostile and with slow clients'
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
	$(SWIFT) run -c release cloudsync-bench

simulate: sqlite
	$(SWIFT) run -c release cloudsync-simulate --engine --seeds $(SEEDS) \
	  --repeat 500 --second-process --all-situations

simulate-release: sqlite
	$(SWIFT) run -c release cloudsync-simulate --seeds $(RELEASE_SEEDS) --repeat 1000

simulate-stores: sqlite
	$(SWIFT) run -c release stores-simulate --seeds $(STORE_SEEDS)

soak: sqlite
	$(SWIFT) run -c release cloudsync-soak --seconds $(SOAK)

siege: sqlite
	$(SWIFT) run -c release cloudsync-siege hostile
	$(SWIFT) run -c release cloudsync-siege hostile --storage file
	$(SWIFT) run -c release cloudsync-siege slow

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
