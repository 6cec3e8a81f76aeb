#!/bin/bash
# Plays the stories of lost and regained networks in a network namespace, without privileges. Builds
# nothing: `swift build --build-tests` comes before. Arguments go to `swift test` (-c release).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v ip > /dev/null; then
  echo "netns: there is no ip(8); install iproute2" >&2
  exit 1
fi
if ! reason=$(unshare --map-root-user --net true 2>&1); then
  echo "netns: no network namespace can be made: $reason" >&2
  echo "netns: user namespaces may be switched off (sysctl user.max_user_namespaces)" >&2
  exit 1
fi

echo "netns: stories in a network namespace"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
CONNECTION_FSM_NETNS=1 unshare --map-root-user --net bash -c \
  'ip link set lo up && exec swift test --skip-build --filter NetworkNamespaceTests "$@"' netns "$@" \
  2>&1 | tee "$log"
# A suite that was not found, or skipped, passes too.
grep -q 'Suite "In a network namespace" passed' "$log"
