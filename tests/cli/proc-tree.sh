# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# A machine that never was, for cases: proc/ with its processes, root/ with its files. Sourced.
#
# Process 7 (web, a unit) runs the old libweb; 8 (work, a container) the one that is there; 9 (odd) what is deleted, a
# library that was unpacked and unlinked, and a memfd.
build() { # build FILE ID VERSION
	mkdir -p "$(dirname "$1")"
	echo 'int web(void) { return 1; }' |
		gcc -x c - -shared -nostdlib -Xlinker --build-id="0x$2" -Xlinker -soname -Xlinker libweb.so.1 \
			-Xlinker --package-metadata="{\"type\":\"deb\",\"name\":\"libweb\",\"version\":\"$3\"}" -o "$1" || exit 9
}

process() { # process PID NAME CGROUP
	mkdir -p "proc/$1/map_files" "proc/$1/ns"
	echo "$1 ($2) S 1 $1 $1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 200 0 0" >"proc/$1/stat"
	printf 'Name:\t%s\nUid:\t33\t33\t33\t33\nNSpid:\t%s\n' "$2" "$1" >"proc/$1/status"
	printf '/usr/sbin/%s\0-d\0' "$2" >"proc/$1/cmdline"
	echo "0::$3" >"proc/$1/cgroup"
	ln -s "$PWD/root" "proc/$1/root"
	ln -s "$PWD/root/usr/sbin/$2" "proc/$1/exe"
	ln -s 'mnt:[4026531841]' "proc/$1/ns/mnt"
	: >"proc/$1/maps"
}

map() { # map PID START NAME FILE [DEVICE]: FILE is mapped under NAME
	end=$(printf %x $((0x$2 + 0x1000)))
	device=${5-$(printf '%02x:%02x' "0x$(stat -c %D "$4" | sed 's/..$//;s/^$/0/')" "0x$(stat -c %D "$4" | sed 's/.*\(..\)$/\1/')")}
	echo "$2-$end r-xp 00001000 $device $(stat -c %i "$4")    $3" >>"proc/$1/maps"
	ln -s "$PWD/$4" "proc/$1/map_files/$2-$end"
}

mkdir -p proc/sys/kernel/random sys root/etc root/boot proc/1
echo web1 >proc/sys/kernel/hostname
echo 11111111-2222-3333-4444-555555555555 >proc/sys/kernel/random/boot_id
echo 0123456789abcdef0123456789abcdef >root/etc/machine-id
printf 'ID=debian\nVERSION_ID="12"\n' >root/etc/os-release
echo 'root:x:0:0::/root:/bin/sh
www-data:x:33:33::/:/bin/sh' >root/etc/passwd
process 1 init /init.scope
process 7 web /system.slice/web.service
process 8 work /system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope
process 9 odd /user.slice
library=root/usr/lib/libweb.so.1
build old/libweb.so.1 0a0a0a0a0a0a 1.0
build $library 0b0b0b0b0b0b 1.1
touch -d 2026-11-30T10:00:00Z $library
map 7 10000 "$PWD/$library" old/libweb.so.1
map 8 10000 "$PWD/$library" $library
build old/gone.so 0c0c0c0c0c0c 2.0
map 9 10000 "$PWD/root/usr/lib/gone.so (deleted)" old/gone.so
map 9 20000 "$PWD/root/tmp/jna123.so (deleted)" old/gone.so
map 9 30000 "/memfd:made up (deleted)" old/libweb.so.1 00:01
echo '40000-41000 rwxp 00000000 00:00 0' >>proc/9/maps
here() { sed "s,$PWD,HERE,g"; }
