# The front door.  Every target sets up what it needs; Meson does the work.

BUILD ?= build
MESON_ARGS ?=
CI_ARGS := $(if $(CI),--werror)

.DEFAULT_GOAL := all
.PHONY: all deps demo test quick check bench e2e asan tsan fuzz lint format install uninstall static wheel dist deb release-check \
	clean update-docs update-golden update-symbols

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

deps:
	@scripts/deps-debian.sh build

$(BUILD)/build.ninja: | deps
	@meson setup $(BUILD) --buildtype=release $(CI_ARGS) $(MESON_ARGS) >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log

# A build made before cmocka was there has no tests.
$(BUILD)/with-tests: | $(BUILD)/build.ninja
	@meson configure $(BUILD) -Dtests=enabled
	@ninja -C $(BUILD) build.ninja >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log
	@touch $@

demo: all
	@scripts/demo $(BUILD)

test:
	@scripts/deps-debian.sh test
	@$(MAKE) --no-print-directory $(BUILD)/with-tests all
	@scripts/run-tests $(BUILD)

# What matters while editing: everything but the tests of suite "long", and the
# oracle on few histories.
quick:
	@scripts/deps-debian.sh test
	@$(MAKE) --no-print-directory $(BUILD)/with-tests all
	@$(BUILD)/tests/property/test_levels 2000 >/dev/null
	@scripts/run-tests $(BUILD) --no-suite long

check: test

bench: all
	@bench/run $(BUILD)

e2e:
	@scripts/deps-debian.sh test
	@$(MAKE) --no-print-directory $(BUILD)/with-tests all
	@tests/e2e/run-long $(BUILD)

asan tsan: all
	@scripts/deps-debian.sh test
	@scripts/sanitize $@

fuzz:
	@scripts/deps-debian.sh lint
	@scripts/fuzz

lint:
	@scripts/deps-debian.sh lint
	@$(MAKE) --no-print-directory $(BUILD)/with-tests all
	@scripts/lint $(BUILD)

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

# Rewrite what tests compare with; look at the diff before committing it.
update-docs: all
	@$(BUILD)/tests/report/levels_md > docs/levels.md

update-golden: all
	@tests/report/golden --update $(BUILD)/cli/insula tests/golden tests/report/expected

# PREFIX=DIR is where it goes, also for a build that was set up for another place;
# DESTDIR=DIR is put before it.
install: all
ifdef PREFIX
	@meson configure $(BUILD) -Dprefix=$(PREFIX) $(if $(LIBDIR),-Dlibdir=$(LIBDIR))
endif
	@meson install -C $(BUILD) --quiet

uninstall:
	@ninja -C $(BUILD) --quiet uninstall

# The Python package, for any Python from 3.8 on: dist/insula-VERSION-....whl
wheel: all
	@python3 python/build.py $(BUILD) dist

# A tarball that builds and tests itself.
dist:
	@scripts/make-dist dist

# insula, libinsula0, libinsula-dev and python3-insula as Debian packages.
deb: | deps
	@scripts/make-deb dist

# Do the numbers agree, and does the tarball build?
release-check: all
	@scripts/release-check $(BUILD)

# Every symbol that the shared library exports; a name that goes takes a new soname.
update-symbols: all
	@scripts/check-symbols $(BUILD)/src/libinsula.so src/api/libinsula.symbols --update

# One file that runs on any Linux of this architecture: everything but the drivers that load
# the client library of a database.
static: | deps
	@[ -e build-static/build.ninja ] || meson setup build-static --buildtype=release -Dprefer_static=true \
		-Dc_link_args=-static -Dsqlite=disabled -Dpostgres=disabled -Dmariadb=disabled -Dodbc=disabled -Dtests=disabled >build-static.log || \
		{ cat build-static.log; exit 1; }
	@rm -f build-static.log
	@ninja -C build-static --quiet cli/insula
	@echo build-static/cli/insula

clean:
	rm -rf build build-*
