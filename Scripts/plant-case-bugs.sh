#!/bin/bash
# Shows that the cases of each kind bite: plants one bug a kind in a scratch copy, and wants a scenario
# of that kind to fail.
# Usage: Scripts/plant-case-bugs.sh [KIND…]    without kinds, all 27 (about four minutes)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
wanted=" $* "
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SWIFT_BACKTRACE=enable=no

git ls-files -co --exclude-standard | tar -cf - -T - | tar -xf - -C "$scratch"
cd "$scratch"
cases=Tests/SimulationTests/Fixtures/cases
core=Sources/ConnectionFSM/Core
machine=$core/Machine
missed=0
planted=0

# ids KIND: the cases of a kind, from the table of the tests.
ids() {
  local kind
  kind=$(sed -nE "s/^  case ([A-Za-z]+) = \"$1\"\$/\1/p" Tests/SimulationTests/Cases/CaseKind.swift)
  [ -n "$kind" ] || { echo "plant-case-bugs: there is no kind $1" >&2; exit 1; }
  sed -n "/^    \.$kind: \[/,/^    \],/p" Tests/SimulationTests/Cases/CaseKind.swift \
    | grep -oE 'RC[0-9]{3}'
}

# run KIND: the first scenario of the kind that fails, under its own seed; fails itself if none does.
run() {
  local id file
  for id in $(ids "$1"); do
    for file in "$cases/$id"*.json; do
      [ -e "$file" ] || continue
      if ! timeout 60 "$demo" simulate "$file" > run.log 2>&1; then
        echo "$(basename "$file" .json) $(grep -m1 -oE 'step [0-9]+: .*|[A-Z0-9]+ broken: .*|Fatal error: .*' run.log \
          | cut -c1-80)"
        return 0
      fi
    done
  done
  return 1
}

# bug KIND FILE OLD NEW: replaces OLD by NEW, builds, and runs the cases of the kind.
bug() {
  local kind=$1 file=$2 found
  if [ "$wanted" != "  " ] && [[ "$wanted" != *" $kind "* ]]; then return; fi
  planted=$((planted + 1))
  cp "$file" saved
  OLD=$3 NEW=$4 perl -0pi -e 's/\Q$ENV{OLD}\E/$ENV{NEW}/' "$file"
  if cmp -s "$file" saved; then
    echo "FAILED  $kind: the line to change is not in $file any more"
    missed=$((missed + 1))
  elif ! swift build --product fsm-demo > build.log 2>&1; then
    echo "FAILED  $kind: does not compile"
    grep -m3 error: build.log || true
    missed=$((missed + 1))
  elif found=$(run "$kind"); then
    printf 'found   %-26s %s\n' "$kind" "$found"
  else
    echo "MISSED  $kind"
    missed=$((missed + 1))
  fi
  cp saved "$file"
}

echo "plant-case-bugs: without a bug every scenario must go as it says"
swift build --product fsm-demo > build.log 2>&1 || { tail -20 build.log; exit 1; }
demo=$(swift build --show-bin-path)/fsm-demo
for file in "$cases"/*.json; do
  "$demo" simulate "$file" > run.log 2>&1 || { tail -1 run.log; exit 1; }
done

bug timer-after-close $machine/Machine+Intent.swift \
  'enterClosed(.requested, because: .closedByUser, into: &effects)
      return .accepted' 'if case .backingOff = state { return .accepted }
      enterClosed(.requested, because: .closedByUser, into: &effects)
      return .accepted'
bug background $machine/Machine+Conditions.swift \
  'case .suspended: seekLink(.scheduled, into: &effects)' 'case .suspended: return'
bug queue-loss-bound $machine/Machine+Ends.swift \
  'queue.linkEnded(into: &effects)' 'queue.endAll(into: &effects)'
bug give-up $machine/Machine+Ends.swift \
  'policy.backoff.attemptLimit, run.attempts >= limit' \
  'policy.backoff.attemptLimit, run.attempts > limit'
bug reachability $machine/Machine+Conditions.swift \
  '} else if case .offline = state {
      pauseAfterReturn()
    }' '}'
bug duplicate-connection $machine/Machine+Intent.swift \
  'effects.append(.abortTransport(link.epoch))
    retire(link, because: .replaced' 'retire(link, because: .replaced'
bug heartbeat-false-positive $machine/Link.swift \
  'heardAt = now
    askedAt = .never' 'heardAt = now'
bug heartbeat-missing $machine/Machine+Liveness.swift \
  'policy.heartbeat?.misses ?? 1 : 1' '(policy.heartbeat?.misses ?? 1) + 1 : 2'
bug close-code Sources/ConnectionFSM/Tables/Cause+Verdict.swift 'case 1001: .transient' 'case 1001: .terminal'
bug callback-order-reentrancy $machine/Machine+Ends.swift \
  'guard wanted else { return }' 'guard wanted, lastCause == nil else { return }'
bug backoff-math-jitter $core/Policy/Backoff.swift \
  'times: failures, through: cap)' 'times: failures + 1, through: cap)'
bug backoff-reset $machine/Machine+Answers.swift \
  'run.connectTimeouts = 0' 'forgetFailures()'
bug sleep-wake $machine/Machine+Liveness.swift 'if isLate, !link.probedLate {' \
  'if isLate, link.probedLate {'
bug network-switch $machine/Machine+Conditions.swift \
  'if isSwitched { pathSwitched(into: &effects) }' ''
bug timer-leak $machine/Machine+Ends.swift \
  'if reach == .stable {
      forgetFailures()' 'if reach == .stable {'
bug stale-callback $machine/Machine.swift \
  'if hasLink, link.epoch == epoch { return transportReported' \
  'if hasLink, epoch.rawValue > 0 { return transportReported'
bug auth $machine/Machine+Ends.swift \
  'policy.credentialsDeadline != nil, !run.refreshedCredentials' 'policy.credentialsDeadline != nil'
bug clock $machine/Machine+Deadlines.swift \
  'heardAt.later(by: rhythm.interval)' 'heardAt.later(by: rhythm.interval - .seconds(1))'
bug connect-hang $machine/Machine+Deadlines.swift \
  'return (.connect, since + policy.connectDeadline(afterTimeouts: connectTimeouts))' \
  'return (.connect, since + policy.connectDeadline(afterTimeouts: 9) + .seconds(60))'
bug queue-order-duplicate $core/Queue/LaneQueue.swift \
  'effects.append(.transmit(epoch, MessageRange(first, last)))' \
  'effects.append(.transmit(epoch, MessageRange(first, last)))
    effects.append(.transmit(epoch, MessageRange(first, last)))'
bug close-hang $machine/Machine+Intent.swift \
  'effects.append(.abortTransport(link.epoch))
      finish(' 'finish('
bug failover $machine/Machine+Ends.swift 'endpoints.advance()' ''
bug resume-state $machine/Machine+Answers.swift \
  'effects.append(.startSession(epoch, resuming: false))' \
  'effects.append(.startSession(epoch, resuming: true))'
bug terminal-classification Sources/ConnectionFSM/Tables/Cause+Verdict.swift \
  'case 408, 425: .transient' 'case 408, 425: .terminal'
bug stuck-state $machine/Machine+Deadlines.swift \
  'return (.login, since + (policy.sessionDeadline ?? policy.connectDeadline))' \
  'return (.login, since + .seconds(3600))'
bug dns Sources/ConnectionFSM/Tables/Cause+Verdict.swift \
  'case .temporaryFailure: .transient' 'case .temporaryFailure: .terminal'
bug observability $machine/Machine+Ends.swift \
  'effects.append(.ended(link.epoch, cause))' 'effects.append(.ended(link.epoch, .replaced))'

echo "plant-case-bugs: $planted planted, $missed not found"
cd "$root"
[ "$missed" = 0 ]
