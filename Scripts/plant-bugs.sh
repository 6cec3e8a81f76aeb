#!/bin/bash
# Shows that each promise can fail: plants one bug at a time in a scratch copy, and wants the tests red.
# Usage: Scripts/plant-bugs.sh [NAME…]    without names, all of them (about ten minutes)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
wanted=" $* "
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SWIFT_BACKTRACE=enable=no

git ls-files -co --exclude-standard | tar -cf - -T - | tar -xf - -C "$scratch"
cd "$scratch"
echo "plant-bugs: the tests must pass without a bug first"
swift build --build-tests > build.log 2>&1 || { tail -20 build.log; exit 1; }

core=Sources/ConnectionFSM/Core
runtime=Sources/ConnectionFSM/Runtime
missed=0
planted=0

# bug NAME PROMISE FILE OLD NEW TESTS: replaces OLD by NEW, builds, and runs the tests that must fail.
bug() {
  local name=$1 promise=$2 file=$3 tests=$6
  if [ "$wanted" != "  " ] && [[ "$wanted" != *" $name "* ]]; then return; fi
  cp "$file" saved
  OLD=$4 NEW=$5 perl -0pi -e 's/\Q$ENV{OLD}\E/$ENV{NEW}/' "$file"
  if cmp -s "$file" saved; then
    echo "FAILED  $name: the line to change is not in $file any more"
    missed=$((missed + 1))
  elif ! swift build --build-tests > build.log 2>&1; then
    echo "FAILED  $name: does not compile"
    grep -m3 error: build.log
    missed=$((missed + 1))
  elif timeout 300 swift test --skip-build --filter "$tests" > test.log 2>&1; then
    echo "MISSED  $name ($promise)"
    missed=$((missed + 1))
  else
    local found
    found=$(grep -m1 -oE 'recorded an issue.*|Caught error: .*|Fatal error: .*' test.log | cut -c1-90)
    printf 'found   %-28s %-9s %s\n' "$name" "$promise" "$found"
  fi
  planted=$((planted + 1))
  cp saved "$file"
}

explore='SimulationTests.ExplorationTests|SimulationTests.RandomWalkTests'

bug retry-after-close I1 $core/Machine/Machine+Intent.swift \
  'if case .closed = state { return wasWanted' \
  'if case .backingOff = state { return .accepted }
      if case .closed = state { return wasWanted' "$explore"
bug epoch-guard-off I2 $core/Machine/Machine.swift \
  'if hasLink, link.epoch == epoch { return transportReported' \
  'if hasLink, epoch.rawValue > 0 { return transportReported' "$explore"
bug old-link-kept I3 $core/Machine/Machine+Intent.swift \
  'effects.append(.abortTransport(link.epoch))
    retire(link, because: .replaced' 'retire(link, because: .replaced' "$explore"
bug ping-left-unserved I4 $core/Machine/Machine+Deadlines.swift \
  'case .ping: ping(.silence, into: &effects)' 'case .ping: return' "$explore"
bug ping-outlives-open I5 $core/Machine/Link.swift \
  'stage = next
    since = now
    hear(at: now)' 'stage = next
    since = now
    heardAt = now' "$explore"
bug spacing-unchecked I6 $core/Machine/Machine+Dialling.swift \
  'if urge != .userAsked, now < earliestUnaskedDial {' \
  'if urge == .probe, now < earliestUnaskedDial {' "$explore|SpacingTests"
bug wait-above-cap I6 $core/Policy/Backoff.swift \
  'times: failures, through: cap)' 'times: failures, through: cap + cap + cap)' "$explore"
bug reset-on-open I6 $core/Machine/Machine+Answers.swift \
  'self.link.open(at: now)' 'forgetFailures()
    self.link.open(at: now)' 'CaseTests|BackoffTests|IntentTests'
bug jitter-lost-at-cap I6 $core/Policy/Backoff.swift \
  'case .full: return' 'case .full where step == cap: return (step, step)
    case .full: return' 'BackoffTests'
bug cap-unspent I15 $core/Machine/Machine+Ends.swift \
  'cappedRetries += 1' 'cappedRetries += 0' 'VerdictTests'
bug delay-undercut F13 $core/Machine/Machine+Dialling.swift \
  'var earliest = run.notBefore' 'var earliest = Instant.origin' 'VerdictTests'
bug override-after-tables F14 Sources/ConnectionFSM/Tables/VerdictOverride.swift \
  'where override.matches(cause) {' \
  'where override.matches(cause) && cause.failureClass == .transient {' 'VerdictTests'
bug wrong-way I7 $core/Machine/Machine+Answers.swift \
  'guard link.stage == .authenticating else' \
  'guard link.stage != .closing else' "$explore"
bug ended-twice I8 $core/Machine/Machine+Ends.swift \
  'effects.append(.ended(link.epoch, cause))' \
  'effects.append(.ended(link.epoch, cause))
    effects.append(.ended(link.epoch, cause))' "$explore"
bug dead-link-kept I9 $core/Machine/Machine+Ends.swift \
  'primary = nil
    plans = Plans()
    effects' 'plans = Plans()
    effects' "$explore"
bug offline-for-ever I10 $core/Machine/Machine+Deadlines.swift \
  'case .offline(let offline): return (.probe, offline.since + policy.path.probeInterval)' \
  'case .offline: return nil' "$explore"
bug in-doubt-as-written I11 $core/Queue/LaneQueue.swift \
  'promise: .atMostOnce, as: .inDoubt' 'promise: .atMostOnce, as: .written' "$explore"
bug expiry-off-by-one I11 $core/Queue/LaneQueue.swift \
  '.offeredAt <= deadline {' '.offeredAt < deadline {' "$explore"
bug redelivered-twice I11 $core/Queue/LaneQueue.swift \
  'case .atLeastOnce:
      inFlight = 0' 'case .atLeastOnce:
      inFlight = inFlight / 2' "$explore"
bug second-connect-dials I16 $core/Machine/Machine+Intent.swift \
  'if isUnderWay, !isElsewhere, wanted {' 'if isUnderWay, !isElsewhere, !wanted {' \
  "$explore|TransitionTableTests"
bug reentrant-driver I17 $runtime/Connection/Driver.swift \
  'guard !isBusy else { return deferred.append(.input(input)) }' '' 'ConnectionTests'
bug timer-left-armed I18 $runtime/Connection/Driver.swift \
  'if armedAt != nil { loop.arm(self, at: nil) }' '' 'ConnectionTests|ConnectionLifetimeTests'
bug dead-peer-unnoticed I19 $core/Machine/Machine+Liveness.swift \
  'return cut(because: .timedOut(.pong), into: &effects)' 'return self.link.hear(at: now)' \
  "$explore|CaseTests|HeartbeatTests"
bug probe-missing I19 $core/Machine/Machine+Liveness.swift \
  'ping(.doubt, into: &effects)' '' 'ReachabilityTests|SuspicionTests|HeartbeatTests'
bug new-link-overtakes F54 $core/Queue/LaneQueue.swift \
  'mutating func linkReplaced() { fliesOnOldLink = inFlight > 0 }' \
  'mutating func linkReplaced() { fliesOnOldLink = false }' "$explore|Rollover"
bug standby-ends-primary F54 $core/Machine/Machine+Rollover.swift \
  'effects.append(.ended(link.epoch, cause))
      giveStandbyUp()' 'effects.append(.ended(link.epoch, cause))
      giveStandbyUp()
      cut(because: cause, into: &effects)' "$explore|Rollover"
bug backlog-bursts F50 $core/Machine/Machine+Sending.swift \
  'atMost: pacing.burst' 'atMost: .max' 'Pacing|Drain|Queue'
bug grace-ignored F53 $core/Machine/Machine+Conditions.swift \
  'link.since) + grace' 'link.since) + (grace < .zero ? grace : .zero)' 'BackgroundLinkTests'
bug refused-session-resumed RC171 $core/Machine/Machine+Answers.swift \
  'effects.append(.startSession(epoch, resuming: false))' \
  'effects.append(.startSession(epoch, resuming: true))' 'Session'
bug one-endpoint-for-ever RC191 $core/Machine/Machine+Ends.swift \
  'endpoints.advance()' '' 'Endpoint'
bug patience-without-end RC149 $core/Machine/Machine+Ends.swift \
  'return run.failingSince + patience.fastFor' 'return .never + patience.fastFor' 'Patience'

# The simulator and what runs on it.
sim=Sources/NetSim
bug bytes-overtake F59 $sim/Internet/Internet+Flight.swift \
  'let arrival = max(instant, self[from: socket].lastArrival)' 'let arrival = instant' \
  'ConnectionLifeTests'
bug reset-unheard F59 $sim/Internet/Internet+Flight.swift \
  'hadEnd ? .brokenPipe : .connectionReset' 'hadEnd ? .connectionReset : .brokenPipe' \
  'ConnectionLifeTests|KernelDetailTests|Reality'
bug box-never-wound F59 $sim/Internet/Internet+Boxes.swift \
  'self[connection: socket].reapers[number].expiry = expiry(of: state.reaper)' '_ = number' \
  'IdleReaperTableTests'
bug sleeper-in-disorder F59 $sim/Engine/EventHeap.swift \
  'instant < other.instant : order < other.order' 'instant < other.instant : order > other.order' \
  'EventQueueTests|EngineTests|VirtualTime'
bug escape-uncaptured F59 $sim/VirtualTime/Capture.swift \
  'enqueueHook.pointee = capture' 'enqueueHook.pointee = formerEnqueueHook' 'VirtualTime'
bug payload-under-other-id I11 $runtime/Connection/PayloadStore.swift \
  'if self[middle].sequence < sequence { low = middle + 1 }' \
  'if self[middle].sequence <= sequence { low = middle + 1 }' 'WaitingMessagesTests'
bug last-byte-unwritten I11 $runtime/Stream/StreamLink.swift \
  'while done < marks.count, marks[done].end <= written { done += 1 }' \
  'while done < marks.count, marks[done].end <= written + 1 { done += 1 }' \
  'ConservationTests|StreamTransportTests|StreamLink'
bug backlog-as-written I11 $runtime/Stream/StreamLink.swift \
  'guard engine.backlog < backlog, let' 'guard engine.backlog <= backlog, let' \
  'BacklogTests|BacklogEndTests'
bug backlog-encoded-whole F38 $runtime/Stream/StreamLink.swift \
  'while engine.hasMore, output.bytes.count < Self.portion {' 'while engine.hasMore {' \
  'BacklogTests'
bug ending-forgotten F10 $runtime/Stream/StreamLink.swift \
  'guard !isEnding, !isLeaving else { return }' 'guard !isEnding else { return }' 'BacklogEndTests'
bug redirected-stream-kept I18 $runtime/Stream/StreamLink.swift \
  'stream?.close()
    // Nothing but' '// Nothing but' 'RedirectionTests'
bug reported-before-heard I12 $runtime/Stream/StreamLink.swift \
  '    engine.receive(bytes.bytes, at: loop.now, into: &output)
    observer?.transport(epoch, reports: .received(byteCount: UInt32(count)))' \
  '    observer?.transport(epoch, reports: .received(byteCount: UInt32(count)))
    engine.receive(bytes.bytes, at: loop.now, into: &output)' 'SharedReadBufferTests'
bug shared-dice F59 $sim/Links/ChannelState.swift \
  'name: name + "/loss"' 'name: name + "/latency"' 'Link|Conservation'

# The outbox.
outbox=Sources/Transports/Outbox
bug kept-before-written RC199 $outbox/OutboxWriter.swift \
  'try file.write(changes)
      owed = []' 'end(batch, nil)
      try file.write(changes)
      owed = []
      return' 'OutboxCrash'
bug batch-unsynced RC199 $outbox/OutboxFile.swift \
  'try sync()
    size += bytes.count' 'size += bytes.count' 'OutboxCrash'
bug compaction-unsynced RC199 $outbox/OutboxFile.swift \
  'try FileFailure.check("fsync", calls.sync(compacted.raw))' '' 'Outbox'
bug name-unsynced RC199 $outbox/OutboxFile.swift \
  'try FileFailure.check("fsync of the folder", calls.syncFolder(folder))
    } catch {' 'try FileFailure.check("fsync of the folder", 0)
    } catch {' 'OutboxCrash'
bug reopened-name-unsynced RC199 $outbox/OutboxFile.swift \
  'try FileFailure.check("fsync of the folder", calls.syncFolder(folder))
      safe = size' 'safe = size' 'OutboxCrash'
bug reopened-unsynced RC199 $outbox/OutboxFile.swift \
  'try FileFailure.check("fsync", calls.sync(descriptor.raw))
      try FileFailure.check("fsync of the folder' 'try FileFailure.check("fsync of the folder' \
  'OutboxCrash'
bug torn-tail-left RC199 $outbox/OutboxFile.swift \
  'if isTorn {' 'if isTorn, size < 0 {' 'Outbox'
bug payload-unchecked RC199 $outbox/OutboxReader.swift \
  'guard OutboxFormat.checksum(payload.dropLast(4)) == payload.number(at: record.length) else {' \
  'guard payload.count > record.length else {' 'Outbox'
bug damage-as-torn RC199 $outbox/OutboxReader.swift \
  'guard lacksSector else { throw damage(offset, "a record is broken") }' \
  'guard lacksSector else { return nil }' 'Outbox'
bug safe-record-ignored RC199 $outbox/OutboxReader.swift \
  'record.safe > offset {' 'record.safe > size {' 'Outbox'
bug safe-end-ignored RC199 $outbox/OutboxReader.swift \
  'guard content.end >= head.safe else {' 'guard content.end >= 0 else {' 'Outbox'
bug short-write-as-whole B2.1 $outbox/FileCalls.swift \
  'done += result
' 'done = bytes.count
' 'Outbox'
bug failed-fsync-believed RC199 $outbox/OutboxFile.swift \
  'fault = error
      // Without' '// Without' 'Outbox'
bug half-record-left RC199 $outbox/OutboxFile.swift \
  'takeBack()
      throw' 'throw' 'Outbox'
bug ended-returns I11 $outbox/OutboxWriter.swift \
  'owed.append(number)' '_ = number' 'Outbox'
bug compaction-in-disorder I11 $outbox/OutboxFile.swift \
  '$0.number < $1.number' '$0.number > $1.number' 'Outbox'
bug numbers-begin-anew RC199 $outbox/OutboxFile.swift \
  'OutboxHead(nextNumber: nextNumber,' 'OutboxHead(nextNumber: min(1, nextNumber),' 'Outbox'
bug lock-lost I21 $outbox/OutboxFile.swift \
  'try Self.lock(compacted.raw)' '' 'Outbox'
bug outbox-unbounded I21 $outbox/OutboxWriter.swift \
  'length > byteLimit - state.bytes' 'length > byteLimit' 'Outbox'

echo "plant-bugs: $planted planted, $missed not found"
cd "$root"
[ "$missed" = 0 ]
