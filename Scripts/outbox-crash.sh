#!/bin/bash
# Kills a process that writes to an outbox, so many times (1000), and holds what the next one finds
# against what the killed one had heard: nothing kept is lost, nothing is invented, the order stays.
# Usage: Scripts/outbox-crash.sh [ROUNDS [SEED]]    the file lies in TMPDIR: name a real disk there
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

swift build -c release --product outbox-crash
"$(swift build -c release --show-bin-path)/outbox-crash" "${1:-1000}" "${2:-1}"
