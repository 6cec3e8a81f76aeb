#!/bin/bash
# Compiles the core as Embedded Swift for three bare-metal targets and prints the size of its code.
# That it compiles is the check: no existentials, no runtime reflection, no Foundation.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

targets=(x86_64-unknown-none-elf armv7em-none-none-eabi riscv32-none-none-eabi)
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
mapfile -t sources < <(find Sources/ConnectionFSM/Core Sources/ConnectionFSM/Tables -name '*.swift' | sort)

echo "embedded: ${#sources[@]} files of Sources/ConnectionFSM/{Core,Tables}"
for target in "${targets[@]}"; do
  swiftc -target "$target" -enable-experimental-feature Embedded -wmo -parse-as-library -Osize \
    -warnings-as-errors -package-name connection-fsm -module-name ConnectionFSM \
    -c "${sources[@]}" -o "$build/$target.o"
  code=$(size -A "$build/$target.o" | awk '/^\.text/ { sum += $2 } END { print sum }')
  printf '  %-24s %6d bytes of code\n' "$target" "$code"
done
