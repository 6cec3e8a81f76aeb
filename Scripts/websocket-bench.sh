#!/bin/bash
# Times our WebSocket client against others, all to one echo server over loopback, in turn, and says
# whether the goals are reached: ahead of every non-blocking client in each column, at least 0.9 of
# the best blocking one, and ahead of SwiftNIO's, which is not run but known by its ratio to Beast.
# Fails where one is not.
#
# Usage: websocket-bench.sh [--rounds R] [--cache FOLDER]
#   --rounds R        how often each is measured (5); the table has the medians
#   --cache FOLDER    where the others are built and stay for the next run; else a temporary folder
#
# The others are in Benchmarks/WebSocketBench/peers, each with a header that says what it is; they
# are made of packages of Debian (installed where this runs as root) and of PyPI. One that cannot be
# had here is left out, and that is said. Needs two cores and taskset.
#
# shellcheck disable=SC2317  # what `trap` and `peer` call
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
peers=$root/Benchmarks/WebSocketBench/peers

usage() { sed -n 's/^# \{0,1\}//; /^Usage/,/^  --cache/p' "${BASH_SOURCE[0]}" >&2; exit 2; }
say() { echo "websocket-bench: $*"; }

rounds=5
cache=
while (($#)); do
  case $1 in
    --rounds) rounds=${2:-} ;;
    --cache) cache=${2:-} ;;
    *) usage ;;
  esac
  shift 2 || usage
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || usage
if (($(nproc) < 2)); then
  say "needs two cores, one for the server" >&2
  exit 1
fi

# Size, messages in flight, how many, what is counted, and the core of the server.
columns=("32 B w1, same core" "32 B w64" "64 KiB w4" "1 MiB w4")
settings=("32 1 20000 rt/s 0" "32 64 100000 rt/s 1" "65536 4 8000 MB/s 1" "1048576 4 500 MB/s 1")
client_core=0

scratch=$(mktemp -d)
servers=()
clean_up() {
  if ((${#servers[@]})); then kill "${servers[@]}" 2> /dev/null || true; fi
  rm -rf "$scratch"
}
trap clean_up EXIT
if [[ -z $cache ]]; then cache=$scratch/cache; fi
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)

# MARK: Building

# install PACKAGE: of Debian.
install() {
  if ((EUID)); then
    echo "install $1, or run this as root"
    return 1
  fi
  [[ -e $scratch/updated ]] || { apt-get update -q > /dev/null && touch "$scratch/updated"; } \
    && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$1" > /dev/null
}

# package NAME SIGN: installs it where this program or file of it is missing.
package() { command -v "$2" > /dev/null || [[ -e $2 ]] || install "$1"; }

# made TARGET SOURCE…: whether this was built since its sources changed.
made() {
  local target=$1 source
  shift
  [[ -e $target ]] || return 1
  for source in "$@"; do [[ ! $source -nt $target ]] || return 1; done
}

# compiled NAME SOURCE COMPILER FLAG FLAG FLAG LIBRARY…
compiled() {
  local target=$cache/$1 source=$peers/$2
  shift 2
  made "$target" "$source" "$peers/report.h" || "$1" "${@:2:3}" "$source" "${@:5}" -o "$target"
}

build_server() {
  package g++ g++ && package libssl-dev /usr/include/openssl/ssl.h \
    && compiled wsecho wsecho.cpp g++ -O3 -march=native -std=c++17 -lcrypto
}
build_raw() {
  package g++ g++ && compiled raw_client raw_client.cpp g++ -O3 -march=native -std=c++17
}
build_beast() {
  package g++ g++ && package libboost-dev /usr/include/boost/beast/websocket.hpp \
    && compiled beast_client beast_client.cpp g++ -O3 -march=native -std=c++17 -lpthread
}
build_lws() {
  package gcc gcc && package libwebsockets-dev /usr/include/libwebsockets.h \
    && compiled lws_client lws_client.c gcc -O3 -march=native -std=gnu11 -lwebsockets
}
build_gorilla() {
  local source=$peers/go_gorilla/main.go
  package golang-go go \
    && package golang-github-gorilla-websocket-dev \
      /usr/share/gocode/src/github.com/gorilla/websocket \
    && { made "$cache/go_gorilla" "$source" \
      || GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$cache/gocache \
        go build -o "$cache/go_gorilla" "$source"; }
}
build_python() {
  if [[ -e $cache/venv/complete ]]; then return; fi
  package python3 python3 \
    && { python3 -m venv --clear "$cache/venv" \
      || { install python3-venv && python3 -m venv --clear "$cache/venv"; }; } \
    && "$cache/venv/bin/pip" install -q --disable-pip-version-check \
      picows==2.3.1 uvloop==0.23.0 aiohttp==3.14.5 websockets==17.4 \
    && touch "$cache/venv/complete"
}
build_node() { package nodejs node && package node-ws /usr/share/nodejs/ws/package.json; }

# The rows of the table, and of those that are not ours, which block and which do not.
rows=(transport connection)
blocking=()
others=()

# peer BUILDER KIND ROW…: its rows, if it can be built.
peer() {
  local builder=$1 kind=$2
  shift 2
  if "$builder" > "$scratch/build.log" 2>&1; then
    rows+=("$@")
    if [[ $kind == blocking ]]; then blocking+=("$@"); else others+=("$@"); fi
  else
    say "left out, since it cannot be built here: $*" >&2
    sed 's/^/    /' "$scratch/build.log" | tail -5 >&2
  fi
}

say "release build of our client"
swift build -c release --product websocket-bench
ours=$(swift build -c release --show-bin-path)/websocket-bench

say "building the others in $cache"
if ! build_server > "$scratch/build.log" 2>&1; then
  cat "$scratch/build.log" >&2
  say "the echo server cannot be built here; it needs g++ and libssl-dev" >&2
  exit 1
fi
peer build_raw blocking raw-c++
peer build_beast blocking beast-sync
peer build_beast others beast-async
peer build_lws others libwebsockets
peer build_gorilla others go-gorilla
peer build_python others picows-uvloop aiohttp-uvloop websockets-uvloop
peer build_node others node-ws

# MARK: Measuring

# serve CORE: starts the echo server there; its port is in the file of the core's name.
serve() {
  taskset -c "$1" "$cache/wsecho" > "$scratch/port$1" &
  servers+=($!)
  for _ in {1..100}; do
    if [[ -s $scratch/port$1 ]]; then return; fi
    sleep 0.05
  done
  say "the echo server does not start" >&2
  exit 1
}
serve 0
serve 1

# run ROW PORT SIZE INFLIGHT COUNT
run() {
  local row=$1
  shift
  local on_core=(timeout 120 taskset -c "$client_core")
  case $row in
    transport | connection) "${on_core[@]}" "$ours" "$@" "$row" ;;
    raw-c++) "${on_core[@]}" "$cache/raw_client" "$@" ;;
    beast-*) "${on_core[@]}" "$cache/beast_client" "$@" "${row#beast-}" ;;
    libwebsockets) "${on_core[@]}" "$cache/lws_client" "$@" ;;
    go-gorilla) "${on_core[@]}" "$cache/go_gorilla" "$@" ;;
    node-ws) NODE_PATH=/usr/share/nodejs "${on_core[@]}" node "$peers/node_client.js" "$@" ;;
    *) "${on_core[@]}" "$cache/venv/bin/python" "$peers/py_client.py" "$row" "$@" ;;
  esac
}

# The number behind this key in the line of a client.
number() { sed -n "s,.* $1=\([0-9.]*\).*,\1,p"; }

for ((round = 1; round <= rounds; round++)); do
  say "round $round of $rounds"
  for column in "${!columns[@]}"; do
    read -r size inflight count unit core <<< "${settings[column]}"
    for row in "${rows[@]}"; do
      line=$(run "$row" "$(< "$scratch/port$core")" "$size" "$inflight" "$count") || {
        say "$row has failed at ${columns[column]}" >&2
        exit 1
      }
      number "$unit" <<< "$line" >> "$scratch/$row.$column"
      number us_cpu/msg <<< "$line" >> "$scratch/$row.$column.cpu"
    done
  done
done

# MARK: Reporting

median() { sort -g "$1" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
rate() { median "$scratch/$1.$2"; } # ROW COLUMN

echo
echo "Medians of $rounds rounds: the rate, ours (transport) as a multiple of it, and microseconds of"
echo "the processor a message."
printf '%-18s' client
for column in "${!columns[@]}"; do
  read -r _ _ _ unit _ <<< "${settings[column]}"
  printf ' | %27s' "${columns[column]}: $unit"
done
echo
for row in "${rows[@]}"; do
  printf '%-18s' "$row"
  for column in "${!columns[@]}"; do
    awk -v rate="$(rate "$row" "$column")" -v ours="$(rate transport "$column")" \
      -v cpu="$(median "$scratch/$row.$column.cpu")" \
      'BEGIN { printf " | %9d %7.2f %9.1f", rate, ours / rate, cpu }'
  done
  echo
done
echo

failed=0
# goal TEXT RATE-OF-THE-OTHER FACTOR COLUMN: whether ours is above that part of the other's.
goal() {
  awk -v text="$1" -v other="$2" -v factor="$3" -v ours="$(rate transport "$4")" \
    -v column="${columns[$4]}" 'BEGIN {
      passed = ours >= other * factor
      printf "%s  %s: %s (%.2f of it, wanted %.2f)\n", passed ? "pass" : "FAIL", column, text,
        ours / other, factor
      exit !passed
    }' || failed=1
}
# best COLUMN ROW…: the fastest row there.
best() {
  local column=$1 row
  shift
  for row in "$@"; do echo "$(rate "$row" "$column") $row"; done | sort -gr | awk 'NR == 1 { print $2 }'
}
for column in "${!columns[@]}"; do
  if ((${#others[@]})); then
    row=$(best "$column" "${others[@]}")
    goal "ahead of every non-blocking client, of which $row is the fastest" \
      "$(rate "$row" "$column")" 1 "$column"
  fi
  if ((${#blocking[@]})); then
    row=$(best "$column" "${blocking[@]}")
    goal "near the fastest blocking client, $row" "$(rate "$row" "$column")" 0.9 "$column"
  fi
done
# A client of SwiftNIO 2.101.3 (one loop, a handler) once ran beside Beast's: 47,200 round trips a
# second to 64,700 in the first column, 131,000 to 186,000 in the second.
if [[ " ${rows[*]} " == *" beast-sync "* ]]; then
  for entry in 0:0.73 1:0.70; do
    column=${entry%:*}
    other=$(awk -v beast="$(rate beast-sync "$column")" -v ratio="${entry#*:}" \
      'BEGIN { print beast * ratio }')
    goal "ahead of SwiftNIO, taken as ${entry#*:} of beast-sync" "$other" 1 "$column"
  done
fi
exit "$failed"
