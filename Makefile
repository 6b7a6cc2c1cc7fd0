# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# A thin front for meson.
PREFIX = /usr/local
DESTDIR =
BUILD = build

all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja:
	meson setup --prefix=$(PREFIX) $(BUILD)

install: $(BUILD)/build.ninja
	meson configure $(BUILD) -Dprefix=$(PREFIX)
	ninja -C $(BUILD)
	DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild

run:
	./run

test:
	./test

bench: all
	bench/run short

bench-full: all
	bench/run full

bench-grow: all
	bench/run grow

clean:
	rm -rf $(BUILD)

.PHONY: all install run test bench bench-full bench-grow clean
