#!/bin/bash
# Shows that each promise of a session can fail: plants one bug at a time in a scratch copy that holds
# the library and the tests of Session alone, and wants them red.
# Usage: Scripts/plant-session-bugs.sh [NAME…]    without names, all of them (about five minutes)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
wanted=" $* "
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SWIFT_BACKTRACE=enable=no

tar -cf - Sources/ConnectionFSM Tests/ConnectionFSMTests | tar -xf - -C "$scratch"
cd "$scratch"
cat > Package.swift <<'END'
// swift-tools-version:6.2
import PackageDescription

let package = Package(
  name: "connection-fsm", platforms: [.macOS(.v15), .iOS(.v18)],
  targets: [
    .target(name: "ConnectionFSM"),
    .testTarget(
      name: "ConnectionFSMTests", dependencies: ["ConnectionFSM"], sources: ["Session", "Support"]),
  ],
  swiftLanguageModes: [.v6]
)
END
echo "plant-session-bugs: the tests must pass without a bug first"
swift build --build-tests > build.log 2>&1 || { grep error: build.log | head -5; exit 1; }
swift test --skip-build --filter 'Session|TopicShards' > test.log 2>&1 || { tail -20 test.log; exit 1; }

at=Sources/ConnectionFSM/Runtime/Session
missed=0
planted=0

# bug NAME PROMISE FILE OLD NEW: replaces OLD by NEW, builds, and runs the tests, which must fail.
bug() {
  local name=$1 promise=$2 file=$at/$3 found
  if [ "$wanted" != "  " ] && [[ "$wanted" != *" $name "* ]]; then return; fi
  planted=$((planted + 1))
  cp "$file" saved
  OLD=$4 NEW=$5 perl -0pi -e 's/\Q$ENV{OLD}\E/$ENV{NEW}/' "$file"
  if cmp -s "$file" saved; then
    echo "FAILED  $name: the line to change is not in $file any more"
    missed=$((missed + 1))
  elif ! swift build --build-tests > build.log 2>&1; then
    echo "FAILED  $name: does not compile"
    grep -m3 error: build.log || true
    missed=$((missed + 1))
  elif timeout 60 swift test --skip-build --filter 'Session|TopicShards' > test.log 2>&1; then
    echo "MISSED  $name ($promise)"
    missed=$((missed + 1))
  else
    found=$(grep -oE '^✘ Test "[^"]*" failed|Fatal error: .*' test.log | cut -c1-70 | sort -u | wc -l)
    printf 'found   %-28s %-9s by %s tests, %s\n' "$name" "$promise" "$found" \
      "$(grep -m1 -oE 'seed [0-9]+: .*|Fatal error: .*' test.log | cut -c1-60)"
  fi
  cp saved "$file"
}

bug topics-before-answer I14 Session+Links.swift \
  'actions.append(.send(epoch, login))' \
  'actions.append(.send(epoch, login)); askForAll(on: links.count - 1)'
bug ready-before-topics I14 Session+Talking.swift 'guard links[place].isSettled else { continue }' ''
bug repetition-before-ready F49 Session+Talking.swift \
  'if let place = links.firstIndex(where: { !$0.toSubscribe.isEmpty }) {' \
  'if let place = links.firstIndex(where: { !$0.toRepeat.isEmpty }) { return .repetition(place) }
    if let place = links.firstIndex(where: { !$0.toSubscribe.isEmpty }) {'
bug token-of-refused-session RC005 Session+Links.swift 'if !resuming { remains = nil }' ''
bug replaced-link-resumed F54 Session+Links.swift '(link.isResumed && !link.isRetired)' 'link.isResumed'
bug unopened-resume-forgotten F51 Session+Links.swift \
  'openEpoch == epoch || (link.isResumed && !link.isRetired)' 'openEpoch == epoch'
bug doubt-forgotten F51 SessionLink.swift '{ doubtful.insert(topic) }' '{}'
bug sent-is-certain F51 Session+Links.swift \
  'uncertain = (confirms ? waiting : asked)' 'uncertain = waiting'
bug answer-of-earlier-question F51 SessionLink.swift \
  'if let ending = ending[topic], now - ending.last < timeout { return }' ''
bug not-counted F50 Session+Topics.swift \
  'if count > 1 { wanted[topic] = count - 1 } else { drop(topic) }' 'drop(topic)'
bug nothing-cancels-out F50 SessionLink.swift 'if isWanted {
      toUnsubscribe.remove(topic)' 'if isWanted {'
bug batch-too-large F50 SessionLink.swift 'toSubscribe.popFirst(limit)' 'toSubscribe.popFirst(limit + 1)'
bug burst-too-large F50 ../Limits/TokenBucket.swift \
  'fullAt - now <= reach' 'fullAt - now <= TimeSpan(nanoseconds: reach.nanoseconds + interval.nanoseconds)'
bug tokens-saved-for-ever F50 ../Limits/TokenBucket.swift \
  'fullAt = max(fullAt, now) + interval' 'fullAt = (fullAt == .longAgo ? now : fullAt) + interval'
bug bucket-without-deadline F50 Session.swift \
  'if nextErrand != nil { next = min(next, bucket.nextTokenAt) }' ''
bug late-confirmation-ignored F50 SessionLink.swift 'unconfirmed.remove(topic)
    toRepeat.remove(topic)
  }

  /// The peer has ended' 'unconfirmed.remove(topic)
  }

  /// The peer has ended'
bug thrown-out-for-good F50 SessionLink.swift '{ rows[topic] = .fresh }
    unconfirmed.append(topic, now)' '{ rows[topic] = .fresh }'
bug refused-told-twice F50 Session+Topics.swift 'links[place].forget(topic)
    guard wanted.contains(topic) else { return }' 'links[place].forget(topic)'
bug changes-on-replaced-link F54 SessionLink.swift 'mayTalk && !isRetired' 'mayTalk'
bug gap-delivered F51 Session+Numbers.swift \
  'number > last && number - last == 1' 'number > last'
bug row-begun-anew I22 Session+Numbers.swift 'row(of: topic, on: place) == .fresh && dialect' 'dialect'
bug other-link-disregarded F54 Session+Numbers.swift \
  '(isCarried(topic, besides: place) ? .behind : .fresh)' '.fresh'
bug links-wait-for-each-other F54 SessionLink.swift \
  'carriedElsewhere(topic) ? .behind : .fresh' '.behind'
bug other-link-ahead-unseen I22 SessionLink.swift 'rows[topic] = .behind
    }' '_ = rows
    }'
bug repetition-begins-row I22 SessionLink.swift 'if rows[topic] == nil { rows[topic]' 'do { rows[topic]'
bug gap-asked-again F51 Session+Numbers.swift \
  'guard gaps[topic] == nil else { return gaps.widen(topic, through: number) }' ''
bug recovery-not-patient F51 GapTable.swift 'asked.append(topic, now)
    }' '_ = now
    }'
bug recovery-outlives-link F51 Session+Links.swift 'gaps.forget(filledBy: epoch)' ''
bug snapshot-takes-back F54 Session+Numbers.swift \
  'number <= last, row(of: topic, on: place) == .behind' 'number < 0, last < 0'
bug unnumbered-twice I22 Session+Numbers.swift \
  'openEpoch == nil || openEpoch == links[place].epoch' 'place >= 0'
bug number-twice I22 Inbox.swift 'guard number > through else { return false }' \
  'guard number > through else { return true }'
bug acknowledged-too-little I22 Inbox.swift 'closeUp()
    return true' 'return true'
bug numbers-of-another-session F51 Session+Links.swift 'links[place].inbox = inboxes.open()' ''
bug acknowledgements-alone F50 Session+Talking.swift \
  'if let acknowledgement, !acknowledgedLast' 'if let acknowledgement'
bug late-answer-given I22 Session.swift 'if requests.end(id) {' 'if requests.end(id) || id > 0 {'
bug survivors-lost I11 RequestTable.swift 'requests[id]?.survivesLink == true' 'requests[id] == nil'
bug requests-outlive-link I11 Session+Links.swift \
  'for id in requests.popLost(with: epoch)' 'for id in requests.popLost(with: Epoch(0))'
bug shard-overfull F50 TopicShards.swift 'loads[least] < topicsPerShard' 'loads[least] <= topicsPerShard'
bug shard-never-freed F50 TopicShards.swift 'loads[place.shard] -= 1' ''

echo "plant-session-bugs: $((planted - missed)) of $planted found"
[ "$missed" -eq 0 ]
