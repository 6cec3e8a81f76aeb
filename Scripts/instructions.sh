#!/bin/bash
# Counts the instructions of one transition, mode by mode, and holds them against their limits.
#
# callgrind counts only inside the driver's call; the difference of two runs with different rounds is
# free of warm-up, hence exact and the same on every run. What the driver costs on top of the machine
# is the difference of the two calls in a mode whose rounds are one call each; it has a line of its
# own and is taken off the others.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Mode and limit in instructions. Evicting does the work of blocked, and ends a message besides.
limits=(received:100 stale:100 early:100 due:150 blocked:150 transmit:200 settled:200 evicting:300)
driver_limit=30
few=1000
many=3000

echo "instructions: release build of transition-bench"
swift build -c release --product transition-bench
bench=$(swift build -c release --show-bin-path)/transition-bench

# The mangled names of what is counted; a name that is not just one function would count wrongly.
symbol() {
  local found
  found=$(nm "$bench" | awk -v pattern="$1" '$3 ~ pattern { print $3 }')
  if [[ $(wc -l <<< "$found") -ne 1 || -z $found ]]; then
    echo "instructions: expected one function like $1, found: $found" >&2
    exit 1
  fi
  echo "$found"
}
driver_symbol=$(symbol 'feedCounted')
machine_symbol=$(symbol '7MachineV6handle_2at4intoAA11Disposition')

collected() { # symbol mode rounds
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect="$1" "$bench" "$2" "$3" \
    2>&1 | sed -n 's/.*Collected : //p'
}
# In hundredths, since a ring that wraps around costs more in some rounds than in others.
per_call() { # symbol mode
  local low high
  low=$(collected "$1" "$2" "$few")
  high=$(collected "$1" "$2" "$many")
  echo $(((high - low) * 100 / (many - few)))
}
shown() { printf '%d.%02d' $(($1 / 100)) $(($1 % 100)); }

printf '%-10s %12s %7s\n' mode instructions limit
failed=0
report() { # name hundredths limit
  local verdict=
  if (($2 > $3 * 100)); then
    verdict="  above"
    failed=1
  fi
  printf '%-10s %12s %7d%s\n' "$1" "$(shown "$2")" "$3" "$verdict"
}
on_top=$(($(per_call "$driver_symbol" stale) - $(per_call "$machine_symbol" stale)))
for entry in "${limits[@]}"; do
  mode=${entry%:*}
  report "$mode" $(($(per_call "$driver_symbol" "$mode") - on_top)) "${entry#*:}"
done
report "driver" "$on_top" "$driver_limit"

if ((failed)); then
  echo "instructions: above a limit"
  exit 1
fi
echo "instructions: all within their limits"
