#!/bin/bash
# Shows that each promise of fleets and of their models can fail: plants one bug at a time in a scratch copy
# that holds the machine, the simulator and the tests of Fleet alone, and wants them red.
# Usage: Scripts/plant-fleet-bugs.sh [NAME…]    without names, all of them
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
wanted=" $* "
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SWIFT_BACKTRACE=enable=no

tar -cf - Sources/ConnectionFSM Sources/NetSim Tests/SimulationTests/Fleet \
  Tests/SimulationTests/Fixtures/*.csv | tar -xf - -C "$scratch"
cd "$scratch"
cat > Package.swift <<'END'
// swift-tools-version:6.2
import PackageDescription

let package = Package(
  name: "connection-fsm", platforms: [.macOS(.v15), .iOS(.v18)],
  targets: [
    .target(name: "ConnectionFSM"),
    .target(name: "NetSim", dependencies: ["ConnectionFSM"]),
    .testTarget(
      name: "SimulationTests", dependencies: ["ConnectionFSM", "NetSim"],
      resources: [.copy("Fixtures")]),
  ],
  swiftLanguageModes: [.v6]
)
END
echo "plant-fleet-bugs: the tests must pass without a bug first"
swift build --build-tests > build.log 2>&1 || { grep error: build.log | head -5; exit 1; }
swift test --skip-build > test.log 2>&1 || { grep -a 'recorded an issue' test.log; exit 1; }

at=Sources/NetSim/Fleet
missed=0
planted=0

# bug NAME FILE OLD NEW: replaces OLD by NEW, builds, and runs the tests, which must fail.
bug() {
  local name=$1 file=$at/$2 found
  if [ "$wanted" != "  " ] && [[ "$wanted" != *" $name "* ]]; then return; fi
  planted=$((planted + 1))
  cp "$file" saved
  OLD=$3 NEW=$4 perl -0pi -e 's/\Q$ENV{OLD}\E/$ENV{NEW}/' "$file"
  if cmp -s "$file" saved; then
    echo "FAILED  $name: the line to change is not in $file any more"
    missed=$((missed + 1))
  elif ! swift build --build-tests > build.log 2>&1; then
    echo "FAILED  $name: does not compile"
    grep -m3 error: build.log || tail -3 build.log
    missed=$((missed + 1))
  elif timeout 300 swift test --skip-build > test.log 2>&1; then
    echo "MISSED  $name"
    missed=$((missed + 1))
  else
    found=$(grep -am1 -oE 'Test "[^"]*" recorded' test.log | cut -c6- | sed 's/ recorded$//' || true)
    printf 'found   %-24s %s\n' "$name" "${found:-$(tail -1 test.log)}"
  fi
  cp saved "$file"
}

bug line-one-too-long ServerLine.swift 'guard waiting < server.backlog' 'guard waiting <= server.backlog'
bug shed-one-too-late ServerLine.swift 'waiting >= shedding.queueLimit' 'waiting > shedding.queueLimit'
bug end-after-arrival ServerLine.swift '(part > 0 ? 1 : 0)' '1'
bug waste-uncounted ClientBooks.swift 'if isWasted { wasted += 1 }' ''
bug wake-up-uncounted ClientBooks.swift 'if isAnswer { stir(client, at: now) }' ''
bug wake-up-at-ten-seconds ClientBooks.swift 'now - last > .seconds(10)' 'now - last >= .seconds(10)'
bug drained-before-loss ClientBooks.swift '{ lostLate += Int128(now.nanoseconds) }' '{}'
bug end-as-dialling ClientBooks.swift 'dialling += Int128(now.nanoseconds)
    if' 'dialling += 0
    if'
bug silence-refuses ServerLine.swift 'if case .silence = server.outage {' \
  'if case .silence = server.outage, now < .origin {'
bug shards-one-by-one FleetShard.swift 'instant < $0.instant' 'false'
bug window-too-long Fleet.swift 'start + window' 'start + window + window'
bug clients-left-out Fleet.swift 'count * (piece + 1) / most' 'count * (piece + 1) / most - piece'
bug answer-without-way FleetDriver.swift 'arriving: departure + latency' 'arriving: departure'
bug one-policy-for-all Fleet.swift 'let policy = policy(place)' 'let policy = policy(0)'
bug zone-is-all FleetServer.swift 'Int64(clients) * Int64(percent)' 'Int64(clients) * 100'
bug version-unchecked Models/ContentionModel.swift \
  'if clients[client].version == version {' 'if clients[client].version >= 0 {'
bug first-wait-doubled Models/ContentionModel.swift 'var failures: UInt32 = 0' 'var failures: UInt32 = 1'
bug cap-before-draw Models/ContentionModel.swift '3 * max(last, base).nanoseconds' \
  'min(cap.nanoseconds, 3 * max(last, base).nanoseconds)'
bug delay-too-even Models/NormalDice.swift '(2 * Double(' '(1 * Double('
bug retry-without-token Models/MetastableModel.swift 'guard tokenTenths >= 10 else { return }' ''
bug token-never-returns Models/MetastableModel.swift 'min(Self.fullBucket, tokenTenths + 1)' \
  'min(Self.fullBucket, tokenTenths)'
bug late-answer-counts Models/MetastableModel.swift 'freeAt <= givesUp' 'freeAt <= givesUp + .seconds(9)'
bug nothing-held Models/MetastableModel.swift 'held.append((now, isFirst))' ''

if [ "$wanted" != "  " ] && [ "$planted" != "$(wc -w <<< "$wanted")" ]; then
  echo "plant-fleet-bugs: not every name is that of a bug"
  exit 64
fi
echo "plant-fleet-bugs: $planted planted, $missed not found"
[ "$missed" = 0 ]
