# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# What oracles of frames share, to be sourced in a new directory: sources of programs, and our answers beside
# llvm-symbolizer's and eu-addr2line's. $imprint and $llvm are set by who sources it.
# shellcheck shell=sh

# C with calls that are inlined into each other, constants that are propagated, cold parts.
cat >program.c <<'C'
extern int sink(int), source(void);
void fail(int) __attribute__((noreturn, cold));
static inline int clamp(int value, int low, int high)
{
	if (value < low)
		return low;
	return value > high ? high : value;
}
static inline int mix(int left, int right)
{
	int sum = clamp(left, -100, 100) * 31 + clamp(right, 0, 50);
	if (__builtin_expect(sum == 12345, 0))
		fail(sum);
	return sum;
}
static __attribute__((noinline)) int scaled(int value, int factor) { return sink(mix(value, factor)) * factor; }
static inline int spread(int count)
{
	int total = 0;
	for (int i = 0; i < count; i++) {
		total += mix(source(), i);
		switch (total & 7) {
		case 0: total += scaled(i, 3); break;
		case 1: total -= scaled(total, 3); break;
		case 2: { int inner = mix(total, i * 2); total ^= inner; } break;
		case 5: sink(total); break;
		default: total += mix(i, i);
		}
	}
	return total;
}
int first(int count) { return spread(count) + spread(source()); }
int second(int count) { return mix(first(count), spread(count + 1)); }
int third(const int *values, int count)
{
	int total = 0;
	for (const int *end = values + count; values < end; values++)
		total = mix(total, *values);
	return total;
}
int main(void) { int values[4] = { source(), source(), 3, 4 }; return second(source()) + third(values, 4); }
C
cat >rest.c <<'C'
volatile int state;
int sink(int value) { return state = value; }
int source(void) { return state; }
void fail(int value) __attribute__((noreturn));
void fail(int value) { for (;;) state = value; }
C
cat >program.cc <<'C'
#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>
namespace shapes {
struct Base { virtual ~Base(); virtual double area() const = 0; };
Base::~Base() {}
template <class T, int N> struct Grid : Base {
	std::vector<T> cells = std::vector<T>(N * N);
	double area() const override { return std::accumulate(cells.begin(), cells.end(), 0.0); }
	template <class F> void each(F &&f) { std::for_each(cells.begin(), cells.end(), f); }
};
}
static std::map<std::string, double> seen;
template <int N> __attribute__((noinline)) double fill(double by)
{
	shapes::Grid<double, N> grid;
	grid.each([&](double &cell) { cell = (by += 0.5); });
	auto total = [&grid](int times) { return grid.area() * times; };
	seen[std::to_string(N)] += total(3);
	return grid.area();
}
int main(int argc, char **)
{
	std::vector<std::string> names;
	for (int i = 0; i < 100; i++)
		names.push_back(std::to_string(i * argc));
	std::sort(names.begin(), names.end(), [](const auto &a, const auto &b) { return a.back() < b.back(); });
	return int(fill<3>(argc) + fill<7>(names.size())) + int(seen.size());
}
C

number=0
pass() { number=$((number + 1)); echo "ok $number - $1"; }
fail() { number=$((number + 1)); echo "not ok $number - $1"; sed 's/^/# /' "${2:-/dev/null}" | head -30; }
lacks() { number=$((number + 1)); echo "ok $number - $1 # SKIP $2"; }

# addresses FILE: every third byte of .text, or fewer where it is long, those between functions among them.
addresses() {
	readelf -SW "$1" | sed 's/\[ *[0-9]*\]//' | while read -r name _ address _ size _; do
		[ "$name" = .text ] || continue
		step=$((0x$size / 2500 | 3))
		at=$((0x$address)) end=$((0x$address + 0x$size))
		while [ $at -lt $end ]; do printf '0x%x\n' $at; at=$((at + step)); done
	done
}

# Puts each answer of llvm-symbolizer's form on one line. Names of symbols that share an address (constructors) become
# that address, and the name of a source file that only an STT_FILE symbol tells becomes none: docs/names.md.
normalize() { # normalize NAMES
	awk -v names="$1" '
	BEGIN { while ((getline line < names) > 0) { split(line, part, " "); at[part[3]] = part[1] } }
	function flush() {
		if (count) {
			outer = lines[count - 1]; bare = outer; sub(/@plt$/, "", bare)
			if (outer in at) lines[count - 1] = "@" at[outer]
			text = lines[1]
			for (i = 2; i <= count; i++) { sub(/^(\.\/)+/, "./", lines[i]); if (lines[i] ~ /^[^\/]*:0:0$/) lines[i] = "??:0:0"; text = text " | " lines[i] }
			print text
		}
		count = 0
	}
	/^$/ { flush(); next }
	{ lines[++count] = $0 }
	END { flush() }'
}

# compare TITLE FILE: all frames of all addresses as llvm-symbolizer has them.
compare() {
	addresses "$2" >addresses
	nm --defined-only "${3:-$2}" 2>/dev/null | grep -v ' [ar] ' >names
	"$imprint" symbolize -q --no-demangle --output-style llvm -e "$2" <addresses 2>errors | normalize names >actual
	"$llvm" --inlines --no-demangle --obj="$2" <addresses 2>/dev/null | normalize names >expected
	count=$(wc -l <addresses)
	if [ "$count" -gt 30 ] && [ "$(wc -l <expected)" = "$count" ] && diff expected actual >difference; then
		pass "$1: $count addresses"
	else
		cat errors >>difference
		fail "$1" difference
	fi
}

# build TITLE COMMAND...: makes ./program, or skips.
build() {
	title=$1
	shift
	rm -f program program.debug
	if "$@" >log 2>&1 && [ -e program ]; then compare "$title" "$work/program"; else lacks "$title" "cannot build"; fi
}

have() { command -v "$1" >/dev/null; }
clang=$(command -v clang-14 || command -v clang || echo no-clang)
echo "# $("$llvm" --version | sed -n 's/.*LLVM version/LLVM/p')"

# eu-addr2line: where it tells as many lines, they are the same (it does not see into lambdas of gcc, nor what clang moved).
lines() { # lines TOOL...: for each address the lines of its frames
	"$@" -a -i -f -e program <addresses 2>/dev/null | awk '
	/^0x/ { if (NR > 1) print text; text = ""; next }
	{ sub(/ \(discriminator [0-9]+\)$/, ""); if (match($0, /:[0-9]+:[0-9]+$/)) sub(/:[0-9]+$/, "") }
	/:[0-9?]+$/ || /^\?\?$/ { text = text " " $0 }
	END { print text }'
}

# compare_eu TITLE: lines of some addresses of ./program as eu-addr2line has them.
compare_eu() {
	have eu-addr2line || { lacks "eu-addr2line, $1" "no tool"; return; }
	addresses program | awk 'NR % 7 == 0' | head -150 >addresses
	lines timeout 120 eu-addr2line >expected
	lines "$imprint" symbolize -q --output-style addr2line >actual
	paste -d'|' expected actual | awk -F'|' '
	$1 == $2 { same++; next }
	$1 ~ /\?\?/ || $2 ~ /\?\?/ || split($1, x, " ") < split($2, y, " ") { fewer++; next }
	{ print }
	END { print same + 0, fewer + 0 >"counts" }' >difference
	read -r same fewer <counts
	if [ ! -s difference ] && [ "$same" -gt 10 ]; then pass "eu-addr2line, $1: $same the same, $fewer where it tells less"
	else fail "eu-addr2line, $1: $same the same, $fewer where it tells less" difference; fi
}
