#!/bin/bash
# Counts the heap allocations in steady state, of transitions mode by mode and of a fleet; there must
# be none.
#
# valgrind counts those of two runs with different rounds, so that what happens once falls away.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

few=1000
many=3000

echo "allocations: release build of transition-bench and fleet-bench"
swift build -c release --product transition-bench
swift build -c release --product fleet-bench
folder=$(swift build -c release --show-bin-path)
bench=$folder/transition-bench

allocated() { # program what rounds
  valgrind --leak-check=no "$1" "$2" "$3" 2>&1 \
    | sed -n 's/.*total heap usage: \([0-9,]*\) allocs.*/\1/p' | tr -d ,
}

failed=0
for mode in $("$bench" | sed -n 's/^modes: //p'); do
  extra=$(($(allocated "$bench" "$mode" "$many") - $(allocated "$bench" "$mode" "$few")))
  printf '%-10s %5d in %d rounds\n' "$mode" "$extra" $((many - few))
  if ((extra != 0)); then failed=1; fi
done
# Of 1000 clients, once the queue has met the first rush and the first heartbeats.
extra=$(($(allocated "$folder/fleet-bench" 1000 1800) - $(allocated "$folder/fleet-bench" 1000 600)))
printf '%-10s %5d in %d virtual seconds\n' fleet "$extra" 1200
if ((extra != 0)); then failed=1; fi
if ((failed)); then
  echo "allocations: something allocates in its steady state"
  exit 1
fi
echo "allocations: none"
