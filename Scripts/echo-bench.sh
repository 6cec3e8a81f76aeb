#!/bin/bash
# Times 32 bytes to an echo server and back, one message in flight, server and client on one core:
# bare epoll, the transport, and a connection over it. Rounds alternate, since the machine may be
# busy with other things.
#
# Usage: echo-bench.sh [ROUNDS] [MESSAGES]. Fails where the transport takes more than 1.1 times the
# time of bare epoll, both by the medians and by the fastest rounds: what else the machine does can
# only add to a round, and under load adds more to some than to others. A program named by PEER ("bare epoll of another make": called with the words of
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
fastest() { sort -n "$scratch/$1" | head -1; }
ratio() { awk -v a="$("$1" "$2")" -v b="$("$1" "$3")" 'BEGIN { printf "%.2f", a / b }'; }

printf '%-12s %10s %6s %11s %6s %11s\n' mode "median us" ratio "fastest us" ratio "slowest us"
for mode in "${modes[@]}"; do
  suffix=
  if [[ $mode == *+ ]]; then suffix=+; fi
  printf '%-12s %10s %6s %11s %6s %11s\n' "$mode" \
    "$(median "$mode")" "$(ratio median "$mode" "bare$suffix")" \
    "$(fastest "$mode")" "$(ratio fastest "$mode" "bare$suffix")" \
    "$(sort -n "$scratch/$mode" | tail -1)"
done
measured="$(ratio median transport bare) by the medians, $(ratio fastest transport bare) by the fastest"
awk -v words="$measured" -v limit="$limit" \
  'BEGIN { split(words, word, " "); exit word[1] > limit && word[5] > limit }' || {
  echo "echo-bench: transport takes $measured, times bare epoll: above $limit"
  exit 1
}
echo "echo-bench: transport takes $measured, times bare epoll: within $limit"
