#!/bin/bash
# Counts the heap allocations of transitions in steady state, mode by mode; there must be none.
#
# valgrind counts those of two runs with different rounds, so that what happens once falls away.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

few=1000
many=3000

echo "allocations: release build of transition-bench"
swift build -c release --product transition-bench
bench=$(swift build -c release --show-bin-path)/transition-bench

allocated() { # mode rounds
  valgrind --leak-check=no "$bench" "$1" "$2" 2>&1 \
    | sed -n 's/.*total heap usage: \([0-9,]*\) allocs.*/\1/p' | tr -d ,
}

failed=0
for mode in $("$bench" | sed -n 's/^modes: //p'); do
  extra=$(($(allocated "$mode" "$many") - $(allocated "$mode" "$few")))
  printf '%-10s %5d in %d rounds\n' "$mode" "$extra" $((many - few))
  if ((extra != 0)); then failed=1; fi
done
if ((failed)); then
  echo "allocations: a transition allocates"
  exit 1
fi
echo "allocations: none"
