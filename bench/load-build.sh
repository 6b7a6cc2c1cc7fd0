#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# A load like a build machine's: compiles this project's sources, two at a time, until SECONDS_ have passed.
#   bench/load-build.sh SECONDS
set -eu
cd "$(dirname "$0")/.."
until=$(($(date +%s) + $1))
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
: >"$out/config.h"
compile() {
	while [ "$(date +%s)" -lt "$until" ]; do
		for source in src/base/*.c src/model/*.c; do
			"${CC:-cc}" -O2 -g -D_GNU_SOURCE -std=gnu17 -Isrc -Iinclude -I"$out" -c -o "$out/$1.o" "$source" || :
			[ "$(date +%s)" -lt "$until" ] || break
		done
	done
}
compile a &
compile b
wait
