# Sourced by the cases: makes small programs whose build IDs are known. program NAME ID [FLAGS...]
program() {
	name=$1 id=$2
	shift 2
	printf 'int work(int n) { return n * %d; }\nint main(void) { return work(0); }\n' "$(echo "$name" | wc -c)" >source.c
	gcc -g -o "$name" source.c -Wl,--build-id=0x"$id" "$@"
	rm source.c
}
