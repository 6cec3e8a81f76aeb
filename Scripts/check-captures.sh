#!/bin/bash
# Has tshark read the capture of every condition, and object to what a real network would not do:
# malformed packets, wrong checksums, bytes that were never sent. Needs tshark (the package of that
# name); builds fsm-demo. Usage: check-captures.sh [CONDITION…] (default: all of them).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v tshark > /dev/null || { echo "check-captures: tshark is not installed" >&2; exit 69; }

swift build --product fsm-demo
demo=$(swift build --show-bin-path)/fsm-demo
capture=$(mktemp --suffix=.pcapng)
trap 'rm -f "$capture"' EXIT
if [ $# = 0 ]; then
  mapfile -t conditions < <("$demo" scenarios | sed -n '/^Conditions/,/^Links/s/^  \([a-z0-9][^ ]*\)$/\1/p')
  set -- "${conditions[@]}"
fi

failures=0
for condition in "$@"; do
  "$demo" simulate --scenario "$condition" --format pcapng --output "$capture"
  # What the analysis calls an error, or a gap in what the other end is said to have sent.
  found=$(tshark -o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE -r "$capture" \
    -Y '_ws.malformed || _ws.expert.severity == "Error" || tcp.checksum.status == "Bad" ||
      ip.checksum.status == "Bad" || tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment')
  packets=$(tshark -r "$capture" -T fields -e frame.number | wc -l)
  if [ -n "$found" ]; then
    echo "$condition: $packets packets, and tshark objects:"
    echo "$found"
    failures=$((failures + 1))
  else
    echo "$condition: $packets packets"
  fi
done
echo "$# captures, $failures of them with objections"
[ "$failures" = 0 ]
