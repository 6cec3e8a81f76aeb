#!/bin/bash
# Times 32 bytes to an echo server and back, one message in flight, server and client on one core:
# bare epoll, the transport, and a connection over it. Rounds alternate, since the machine may be
# busy; medians count.
#
# Usage: echo-bench.sh [ROUNDS] [MESSAGES]. Fails where the transport takes more than 1.1 times the
# time of bare epoll. A program named by PEER ("bare epoll of another make": called with the words of
# PEER, then a port and a count; prints us/rt=NUMBER) and a server named by PEER_SERVER (called with
# a port) are measured in the same rounds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rounds=${1:-9}
messages=${2:-30000}
limit=1.10
core=0

echo "echo-bench: release build"
swift build -c release --product echo-bench
bench=$(swift build -c release --show-bin-path)/echo-bench

scratch=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2> /dev/null || true; rm -r "$scratch"' EXIT

taskset -c "$core" "$bench" serve > "$scratch/port" &
servers+=($!)
until [[ -s $scratch/port ]]; do sleep 0.05; done
port=$(< "$scratch/port")

modes=(bare transport connection)
if [[ -n ${PEER:-} ]]; then modes+=(peer); fi
if [[ -n ${PEER_SERVER:-} ]]; then
  peer_port=$((20000 + RANDOM % 10000))
  taskset -c "$core" "$PEER_SERVER" "$peer_port" &
  servers+=($!)
  sleep 0.5
  for mode in "${modes[@]}"; do modes+=("$mode+"); done
fi

# The time of one round in microseconds. A mode with a plus talks to the server of another make.
measure() { # mode
  local to=$port
  if [[ $1 == *+ ]]; then to=$peer_port; fi
  if [[ ${1%+} == peer ]]; then
    # shellcheck disable=SC2086
    taskset -c "$core" $PEER "$to" "$messages" | sed -n 's/.* us\/rt=\([0-9.]*\).*/\1/p'
  else
    taskset -c "$core" "$bench" "${1%+}" "$to" "$messages" | awk '{ print $2 }'
  fi
}

for ((round = 1; round <= rounds; round++)); do
  for mode in "${modes[@]}"; do measure "$mode" >> "$scratch/$mode"; done
done

median() { sort -n "$scratch/$1" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
ratio() { awk -v a="$(median "$1")" -v b="$(median "$2")" 'BEGIN { printf "%.2f", a / b }'; }

printf '%-12s %8s %8s %8s %6s\n' mode median fastest slowest ratio
for mode in "${modes[@]}"; do
  suffix=
  if [[ $mode == *+ ]]; then suffix=+; fi
  printf '%-12s %8s %8s %8s %6s\n' "$mode" "$(median "$mode")" \
    "$(sort -n "$scratch/$mode" | head -1)" "$(sort -n "$scratch/$mode" | tail -1)" \
    "$(ratio "$mode" "bare$suffix")"
done
measured=$(ratio transport bare)
awk -v measured="$measured" -v limit="$limit" 'BEGIN { exit measured > limit }' || {
  echo "echo-bench: transport takes $measured times bare epoll, above $limit"
  exit 1
}
echo "echo-bench: transport takes $measured times bare epoll, within $limit"
