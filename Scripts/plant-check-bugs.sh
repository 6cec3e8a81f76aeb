#!/bin/bash
# Shows that drawn stories find bugs and make them small: plants one bug at a time in a scratch copy, lets
# `fsm-demo check` look for it, and prints a table: bug, promise, seeds until it was found, steps of the
# smallest story, seconds of search and shrinking together.
# Usage: Scripts/plant-check-bugs.sh [NAME…]    without names, all of them (about a minute each)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
wanted=" $* "
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SWIFT_BACKTRACE=enable=no

git ls-files -co --exclude-standard | tar -cf - -T - | tar -xf - -C "$scratch"
cd "$scratch"
echo "plant-check-bugs: without a bug, 10,000 stories of each profile must pass"
swift build -c release --product fsm-demo > build.log 2>&1 || { tail -20 build.log; exit 1; }
demo=.build/release/fsm-demo
for profile in machine connection websocket; do
  "$demo" check --profile $profile > check.log 2>&1 || { tail -20 check.log; exit 1; }
done

core=Sources/ConnectionFSM/Core
runtime=Sources/ConnectionFSM/Runtime
missed=0
planted=0
printf '%-28s %-11s %-10s %6s %5s %5s  %s\n' bug profile promise seeds steps sec. finding

# bug NAME PROFILE FILE OLD NEW: replaces OLD by NEW, builds, and checks stories until one fails.
bug() {
  local name=$1 profile=$2 file=$3
  if [ "$wanted" != "  " ] && [[ "$wanted" != *" $name "* ]]; then return; fi
  planted=$((planted + 1))
  cp "$file" saved
  OLD=$4 NEW=$5 perl -0pi -e 's/\Q$ENV{OLD}\E/$ENV{NEW}/' "$file"
  if cmp -s "$file" saved; then
    echo "FAILED  $name: the line to change is not in $file any more"
    missed=$((missed + 1))
  elif ! swift build -c release --product fsm-demo > build.log 2>&1; then
    echo "FAILED  $name: does not compile"
    grep -m3 error: build.log || tail -3 build.log
    missed=$((missed + 1))
  else
    local start=$SECONDS
    timeout 300 "$demo" check --profile "$profile" --jobs 1 --fail-fast > check.log 2>&1 || true
    local took=$((SECONDS - start)) line
    line=$(grep -m1 ' broken by seed ' check.log || true)
    if [ -z "$line" ]; then
      echo "MISSED  $name"
      tail -3 check.log
      missed=$((missed + 1))
    else
      # “I3 broken by seed 17, in 4 of 45 steps”
      local promise seed steps finding
      promise=${line%% broken*}
      seed=$(sed -E 's/.* seed ([0-9]+).*/\1/' <<< "$line")
      steps=$(sed -nE 's/.*, in ([0-9]+) of.*/\1/p' <<< "$line")
      finding=$(sed -nE 's,^  // It ended with: (.*)$,\1,p' check.log | head -1 | cut -c1-60)
      printf '%-28s %-11s %-10s %6d %5s %5d  %s\n' \
        "$name" "$profile" "${promise:0:20}" "$((seed + 1))" "${steps:--}" "$took" "$finding"
      if [ -z "$steps" ] || [ "$steps" -gt 6 ] || [ "$took" -gt 60 ]; then
        echo "LARGE   $name: more than six steps, or too slow"
        missed=$((missed + 1))
      fi
    fi
  fi
  cp saved "$file"
}

# The machine.
bug epoch-guard-off machine $core/Machine/Machine.swift \
  'if hasLink, link.epoch == epoch { return transportReported' \
  'if hasLink, epoch.rawValue > 0 { return transportReported'
bug old-pong-accepted machine $core/Machine/Machine.swift \
  'guard standby?.epoch == epoch else { return .ignored(.staleEpoch) }' \
  'if case .pong = event, hasLink { return transportReported(event, into: &effects) }
      guard standby?.epoch == epoch else { return .ignored(.staleEpoch) }'
bug retry-after-close machine $core/Machine/Machine+Intent.swift \
  'if case .closed = state { return wasWanted' \
  'if case .backingOff = state { return .accepted }
      if case .closed = state { return wasWanted'
bug reset-on-open machine $core/Machine/Machine+Answers.swift \
  'self.link.open(at: now)' 'forgetFailures()
    self.link.open(at: now)'
bug jitter-lost-at-cap machine $core/Policy/Backoff.swift \
  'case .full: return (.zero, step)' 'case .full where step == cap: return (step, step)
    case .full: return (.zero, step)'
bug wait-above-cap machine $core/Policy/Backoff.swift \
  'times: failures, through: cap)' 'times: failures, through: cap + cap + cap)'
bug spacing-unchecked machine $core/Machine/Machine+Dialling.swift \
  'if urge != .userAsked, now < earliestUnaskedDial {' \
  'if urge == .probe, now < earliestUnaskedDial {'
bug delay-undercut machine $core/Machine/Machine+Dialling.swift \
  'var earliest = run.notBefore' 'var earliest = Instant.origin'
bug queue-doubled-on-reopen machine $core/Queue/LaneQueue.swift \
  'case .atLeastOnce:
      inFlight = 0' 'case .atLeastOnce:
      inFlight = inFlight / 2'
bug redelivered-out-of-order machine $core/Queue/LaneQueue.swift \
  'case .atLeastOnce:
      inFlight = 0' 'case .atLeastOnce:
      if inFlight > 1 { (self[0], self[1]) = (self[1], self[0]) }
      inFlight = 0'
bug time-to-live-ignored machine $core/Queue/LaneQueue.swift \
  'guard let timeToLive = lane.timeToLive else { return }
    let deadline' 'guard let timeToLive = lane.timeToLive, fliesOnOldLink else { return }
    let deadline'
bug deadline-off-by-one machine $core/Queue/LaneQueue.swift \
  '.offeredAt <= deadline {' '.offeredAt < deadline {'
bug in-doubt-as-written machine $core/Queue/LaneQueue.swift \
  'promise: .atMostOnce, as: .inDoubt' 'promise: .atMostOnce, as: .written'
bug sent-evicted machine $core/Queue/LaneQueue.swift \
  'guard removed.first <= sentThrough else {' 'guard removed.first <= sentThrough, removed.count > 9 else {'
bug new-link-overtakes machine $core/Queue/LaneQueue.swift \
  'mutating func linkReplaced() { fliesOnOldLink = inFlight > 0 }' \
  'mutating func linkReplaced() { fliesOnOldLink = false }'
bug probe-missing machine $core/Machine/Machine+Liveness.swift \
  'if isLate, !link.probedLate {' 'if isLate, !link.probedLate, link.missed > 9 {'
bug dead-peer-unnoticed machine $core/Machine/Machine+Liveness.swift \
  'return cut(because: .timedOut(.pong), into: &effects)' 'return self.link.hear(at: now)'
bug two-links-on-path-flap machine $core/Machine/Machine+Conditions.swift \
  'effects.append(.abortTransport(link.epoch))
    retire(link, because: cause' 'retire(link, because: cause'
bug old-link-kept machine $core/Machine/Machine+Intent.swift \
  'effects.append(.abortTransport(link.epoch))
    retire(link, because: .replaced' 'retire(link, because: .replaced'
bug offline-for-ever machine $core/Machine/Machine+Deadlines.swift \
  'case .offline(let offline): return (.probe, offline.since + policy.path.probeInterval)' \
  'case .offline: return nil'
bug ended-twice machine $core/Machine/Machine+Ends.swift \
  'effects.append(.ended(link.epoch, cause))' \
  'effects.append(.ended(link.epoch, cause))
    effects.append(.ended(link.epoch, cause))'
bug sent-before-login machine $core/Machine/Machine+Answers.swift \
  'if policy.sessionDeadline == nil {' 'if policy.sessionDeadline == nil || policy.resumeWindow != nil {'
bug connect-deadline-late machine $core/Machine/Machine+Deadlines.swift \
  'policy.connectDeadline(afterTimeouts: connectTimeouts))' \
  'policy.connectDeadline(afterTimeouts: connectTimeouts) + .nanoseconds(1))'

# The runtime, and what it runs on.
bug reentrant-driver connection $runtime/Connection/Driver.swift \
  'guard !isBusy else { return deferred.append(.input(input)) }' ''
bug timer-left-armed connection $runtime/Connection/Driver.swift \
  'if armedAt != nil { loop.arm(self, at: nil) }' ''
bug payload-under-other-id connection $runtime/Connection/PayloadStore.swift \
  'if self[middle].sequence < sequence { low = middle + 1 }' \
  'if self[middle].sequence <= sequence { low = middle + 1 }'
bug buffered-as-written connection $runtime/Stream/StreamLink.swift \
  'while done < marks.count, marks[done].end <= written { done += 1 }' \
  'while done < marks.count, marks[done].end <= output.bytes.count { done += 1 }'
bug partial-write-loses-rest connection $runtime/Stream/StreamLink.swift \
  'written += count
        meter' \
  'written += count > 1 && count < output.bytes.count - written ? count + 1 : count
        meter'
bug stream-left-open connection $runtime/Stream/StreamLink.swift \
  'observer = nil
    stream?.close()' 'observer = nil
    if verdict == nil { stream?.close() }'
bug completions-lost connection $runtime/Connection/Driver.swift \
  'payloads.removeAll(in: range) { owe($0.completion, .success(outcome)) }' \
  'var isFirst = true
    payloads.removeAll(in: range) {
      if isFirst { owe($0.completion, .success(outcome)) }
      isFirst = false
    }'
bug cancel-before-send-ignored connection $runtime/Connection/Driver.swift \
  'if let ticket, ticket.isCancelled {' 'if let ticket, ticket.isCancelled, ticket.id != nil {'
bug release-without-abort connection $runtime/Connection/Driver.swift \
  'transport.abort(link.epoch)
    submit' 'submit'
bug echo-answers-any connection Sources/Transports/Framing/DelimiterFraming.swift \
  'switch unanswered.popFirst() {' 'switch line.count > 40 ? nil : unanswered.popFirst() {'
bug tail-dropped connection Sources/Transports/Framing/DelimiterFraming.swift \
  'rest += piece
  }' 'if rest.isEmpty { rest += piece } else { rest += piece.dropLast(piece.count > 3 ? 1 : 0) }
  }'
bug state-untold connection $runtime/Connection/Driver.swift \
  'if machine.phase != phase || machine.primary?.epoch != epoch {' \
  'if machine.phase != phase && machine.phase != .open || machine.primary?.epoch != epoch {'

bug mask-out-of-step websocket Sources/Transports/WebSocket/Frames/FrameReader.swift \
  'Masking.apply(key, from: taken, to: &message' 'Masking.apply(key, from: 0, to: &message'
bug gap-before-the-close websocket Sources/Transports/WebSocket/Frames/FrameExchange.swift \
  'if fits, queue.isEmpty, !hasDropped {' 'if fits, queue.isEmpty {'

if [ "$wanted" != "  " ] && [ "$planted" != "$(wc -w <<< "$wanted")" ]; then
  echo "plant-check-bugs: not every name is that of a bug"
  exit 64
fi
echo "plant-check-bugs: $planted planted, $missed not found or not small"
cd "$root"
[ "$missed" = 0 ]
