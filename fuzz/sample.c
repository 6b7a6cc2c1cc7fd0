// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What compilers make of calls inlined into each other, loops, and a switch: for seeds with DWARF
// and call frame information.
int callee(int n);
int outer(int n);
int chosen(int n);

static inline __attribute__((always_inline)) int inner(int n)
{
	return callee(n) + 1;
}

static inline __attribute__((always_inline)) int middle(int n)
{
	return inner(n) * 3;
}

int outer(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += middle(i);
	return sum;
}

int chosen(int n)
{
	switch (n) {
	case 1:
		return middle(2);
	case 2:
		return outer(n);
	default:
		return callee(n);
	}
}
