#!/bin/bash
# Plays the reconnect storms whose figures independent programs computed, as often as those did, and prints
# the worst deviation of each table; a figure that is further off than its tests allow is an error.
#
# The contention model (95 cells, 1000 trials each), the metastable model (33 cells, 20 runs each), and
# fleets of 10,000 machines in 44 cells, ten seeds each where there is chance: some minutes. The tests play
# a part of it in each run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

echo "herd: release build of the tests"
swift build -c release --build-tests > "$log" 2>&1 || { grep error: "$log" | head -5; exit 1; }
result=0
HERD=full swift test -c release --skip-build \
  --filter 'SimulationTests.(ContentionModel|MetastableModel|FleetSimulation)Tests' > "$log" 2>&1 || result=$?
grep -a '^herd: ' "$log" | sort || true
if ((result)); then
  grep -a 'recorded an issue' "$log" | cut -c1-250
  echo "herd: a figure is off"
  exit 1
fi
echo "herd: all figures agree"
