#!/bin/bash
# Fuzzes each target of Fuzzing/Targets, or those that are named, for so many seconds (60), under
# AddressSanitizer. A line a target; a finding ends the run, and its input lies beside the build.
# Usage: Scripts/fuzz.sh [SECONDS [TARGET …]]
#
# Built by hand, in a folder of its own: a package would have to give the main function away to the
# fuzzer, which SwiftPM's executables do not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "$(uname)" != Linux ]; then
  echo "fuzz: the fuzzer comes with Swift's toolchain for Linux alone" >&2
  exit 1
fi
seconds=${1:-60}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  mapfile -t targets < <(basename -s .swift -a Fuzzing/Targets/*.swift)
fi
# In MiB: no input needs more memory, at once or in all.
malloc_limit=64
memory_limit=1024

build=.build/fuzz
mkdir -p "$build"
# A crash must end the run; the interactive backtrace would wait for a terminal.
export SWIFT_BACKTRACE=enable=no

flags=(-O -wmo -g -parse-as-library -swift-version 6 -package-name connection-fsm
  -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
  -enable-upcoming-feature MemberImportVisibility
  -sanitize=fuzzer,address -I "$build" -I Sources/CEventLoop -I Sources/COpenSSL -I Sources/CZlib)

compile() { # MODULE
  rm -f "$build/$1.o"
  local sources
  mapfile -t sources < <(find "Sources/$1" -name '*.swift' | sort)
  swiftc "${flags[@]}" -module-name "$1" -emit-module -emit-module-path "$build/$1.swiftmodule" \
    -c "${sources[@]}" -o "$build/$1.o"
}

# Each needs those before it.
stale=false
for module in ConnectionFSM NetSim Transports; do
  if $stale || [ ! -f "$build/$module.o" ] || [ -n "$(find "Sources/$module" -name '*.swift' \
    -newer "$build/$module.o" -print -quit)" ]; then
    echo "fuzz: building $module for the fuzzer"
    compile "$module"
    stale=true
  fi
done

for target in "${targets[@]}"; do
  # The linker warns of symbols that it cannot export from the sanitizer's runtime.
  swiftc "${flags[@]}" -module-name Fuzzer Fuzzing/Support.swift "Fuzzing/Targets/$target.swift" \
    "$build"/{ConnectionFSM,NetSim,Transports}.o -lssl -lcrypto -lz -o "$build/$target" \
    2> "$build/$target.build.log" || { cat "$build/$target.build.log"; exit 1; }
  # What the fuzzer learns stays beside the build; the corpus in the repository is where it starts.
  learned="$build/corpus/$target"
  mkdir -p "$learned"
  words=()
  if [ -f "Fuzzing/$target.dict" ]; then words=(-dict="Fuzzing/$target.dict"); fi
  if ! "$build/$target" -max_total_time="$seconds" -timeout=10 -max_len=8192 \
    -malloc_limit_mb="$malloc_limit" -rss_limit_mb="$memory_limit" -print_final_stats=1 "${words[@]}" \
    -artifact_prefix="$build/$target-" "$learned" "Fuzzing/Corpus/$target" \
    > "$build/$target.log" 2>&1 < /dev/null
  then
    tail -n 60 "$build/$target.log"
    echo "fuzz: $target has a finding; its input is the file named above"
    exit 1
  fi
  executions=$(awk '/number_of_executed_units/ { print $2 }' "$build/$target.log")
  coverage=$(grep -oE 'cov: [0-9]+' "$build/$target.log" | tail -n 1 | cut -d' ' -f2)
  printf 'fuzz: %-12s %10d executions, %6d edges covered, no finding\n' \
    "$target" "$executions" "$coverage"
done
