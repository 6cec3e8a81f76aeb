#!/bin/bash
# Holds our WebSocket client against the Autobahn test suite, and prints what came out by section.
# Fails where a case has failed or is non-strict; informational ones are neither.
#
# Usage: autobahn.sh FOLDER [kosoku|wstest] [--cases PATTERN…]
#   FOLDER     where the suite is installed, for the next run too, and where the reports go
#   kosoku     a runner of the same cases, for Python 3.10 and newer (this one if none is named)
#   wstest     the suite itself, for Python 2.7 alone: PYTHON27 names one, else pyenv is asked
#   --cases    only those: 12.1.1, '9.*' (kosoku knows a star at the end alone)
#
# A program named by CLIENT is judged instead of ours: called with the server's URL and a name, it
# runs all cases and prints how many there are. Both suites come from PyPI, without privileges.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() { sed -n 's/^# \{0,1\}//; /^Usage/,/^  --cases/p' "${BASH_SOURCE[0]}" >&2; exit 2; }
die() { echo "autobahn: $*" >&2; exit 1; }

if [[ ${1:--} == -* ]]; then usage; fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
suite=kosoku
if [[ ${1:-} == kosoku || ${1:-} == wstest ]]; then
  suite=$1
  shift
fi
cases=('*')
if (($#)); then
  [[ $1 == --cases && $# -gt 1 ]] || usage
  cases=("${@:2}")
fi
agent=connection-fsm

# MARK: Installing

# The versions whose behaviour is known; a file says that all of it is there.
install_kosoku() {
  if [[ -e $folder/kosoku/complete ]]; then return; fi
  echo "autobahn: installing kosoku in $folder/kosoku"
  python3 -m venv --clear "$folder/kosoku" \
    || die "python3 cannot make a virtual environment: apt-get install python3-venv"
  "$folder/kosoku/bin/pip" install -q --disable-pip-version-check kosoku==0.1.0
  touch "$folder/kosoku/complete"
}

install_wstest() {
  if [[ -e $folder/wstest/complete ]]; then return; fi
  local python
  python=${PYTHON27:-$(PYENV_VERSION=2.7.18 pyenv which python2.7 2> /dev/null \
    || command -v python2.7 || true)}
  [[ -n $python ]] || die "wstest needs Python 2.7: name one by PYTHON27, or take kosoku"
  echo "autobahn: installing wstest in $folder/wstest, with $python"
  # Python 2.7 has no venv; the last virtualenv that knows it stands beside.
  local pip_install=(pip install -q --disable-pip-version-check)
  if ! {
    "$python" -m "${pip_install[@]}" --upgrade --target "$folder/virtualenv" virtualenv==20.15.1 \
      && PYTHONPATH=$folder/virtualenv "$python" -m virtualenv -q --clear "$folder/wstest" \
      && "$folder/wstest/bin/python" -m "${pip_install[@]}" autobahntestsuite==25.10.1
  } > "$folder/install.log" 2>&1; then
    cat "$folder/install.log" >&2
    die "wstest cannot be installed"
  fi
  touch "$folder/wstest/complete"
}

"install_$suite"

# MARK: Running

client=${CLIENT:-}
if [[ -z $client ]]; then
  echo "autobahn: release build of autobahn-client"
  swift build -c release --product autobahn-client
  client=$(swift build -c release --show-bin-path)/autobahn-client
fi

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
reports=$folder/reports-$suite
rm -rf "$reports"
mkdir -p "$reports"

serve() {
  case $suite in
    kosoku)
      local arguments=() pattern
      for pattern in "${cases[@]}"; do arguments+=(-i "$pattern"); done
      exec "$folder/kosoku/bin/kosoku" -m fuzzingserver -o "$reports" "${arguments[@]}" \
        "127.0.0.1:$port"
      ;;
    wstest)
      python3 -c 'import json, sys
port, reports, *cases = sys.argv[1:]
print(json.dumps({"url": f"ws://127.0.0.1:{port}", "outdir": reports, "cases": cases}))' \
        "$port" "$reports" "${cases[@]}" > "$reports/server.json"
      exec "$folder/wstest/bin/wstest" -u 0 -m fuzzingserver -s "$reports/server.json"
      ;;
  esac
}
serve > "$folder/server-$suite.log" 2>&1 &
server=$!
trap 'kill "$server" 2> /dev/null || true' EXIT

# Somebody listens there, by the system's own list: a connection would be a client's to the server.
listens() { grep -q ":$(printf '%04X' "$port") 00000000:0000 0A" /proc/net/tcp; }
for _ in {1..300}; do
  if listens; then break; fi
  kill -0 "$server" 2> /dev/null || break
  sleep 0.1
done
listens || { cat "$folder/server-$suite.log" >&2; die "$suite does not start"; }

start=$SECONDS
count=$("$client" "ws://127.0.0.1:$port" "$agent") || die "the client has failed"
echo "autobahn: $suite, $((SECONDS - start)) s"
# kosoku writes its reports once all cases were run, and ends then; wstest has written them.
if [[ $suite == kosoku ]]; then
  for _ in {1..300}; do
    kill -0 "$server" 2> /dev/null || break
    sleep 0.1
  done
fi
[[ -e $reports/index.json ]] || die "there is no report; the server's words are in $folder/server-$suite.log"
python3 Scripts/autobahn-report.py "$reports/index.json" "$count"
