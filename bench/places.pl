#!/usr/bin/perl
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# The places in PROGRAM of all frames that `perf script -F ip,dso` prints, as addresses of its file, a line each:
#   places.pl PROGRAM BASE-FILE     (BASE-FILE: where its code was mapped, and from which offset)
use strict;
use warnings;
my ($program, $base_file) = @ARGV;
open(my $file, '<', $base_file) or die "$base_file: $!";
my ($start, $offset) = map { hex } split ' ', <$file>;
while (<STDIN>) {
	my ($ip, $dso) = /^\s*([0-9a-f]+) \((.*)\)/ or next;
	printf "0x%x\n", hex($ip) - $start + $offset if $dso eq $program;
}
