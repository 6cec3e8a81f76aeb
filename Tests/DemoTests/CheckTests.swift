import Foundation
import Testing

@Suite("F59: fsm-demo check")
struct CheckTests {
  /// A folder that is gone after the test.
  private static func inFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("fsm-demo-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  /// What is said without how long it took.
  private static func timeless(_ report: String) -> String {
    report.replacing(#/   [\d,]+ stories, [\d,]+ steps a second a core.*/#, with: "")
  }

  private static func text(_ file: URL) throws -> String {
    try String(contentsOf: file, encoding: .utf8)
  }

  @Test("tells what was run, what came of it and what was met, and in a pipe draws no bar")
  func report() throws {
    let run = try Demo.run("check", "--seeds", "0..19", "--jobs", "2")
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("20 stories, seeds 0..19: every promise held.\n"))
    for word in ["steps", "dials", "messages", "failures", "digest"] {
      #expect(run.output.contains("\n  \(word) "), "\(word)")
    }
    #expect(run.output.contains("\nCoverage\n"))
    #expect(!run.output.contains("\u{1B}"))
    #expect(!run.errors.contains("\u{1B}"))
    #expect(!run.errors.contains("stories a second"))
  }

  @Test("one number is that seed alone")
  func oneSeed() throws {
    let run = try Demo.run("check", "--seeds", "7")
    #expect(run.output.hasPrefix("1 story, seeds 7: every promise held.\n"))
  }

  @Test("the last seed there is can be run")
  func lastSeed() throws {
    let run = try Demo.run("check", "--seeds", "18446744073709551600..18446744073709551615")
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("16 stories"))
  }

  @Test("the result is the same with one thread and with four")
  func jobs() throws {
    try Self.inFolder { folder in
      let (one, four) = (folder.appendingPathComponent("1"), folder.appendingPathComponent("4"))
      let first = try Demo.run("check", "--seeds", "0..99", "--jobs", "1", "--summary", one.path)
      let second = try Demo.run("check", "--seeds", "0..99", "--jobs", "4", "--summary", four.path)
      #expect(try Self.text(one) == Self.text(four))
      #expect(Self.timeless(first.output) == Self.timeless(second.output))
    }
  }

  @Test("eight summaries of parts add up, in any order, to that of one run, to the byte")
  func merge() throws {
    try Self.inFolder { folder in
      let whole = folder.appendingPathComponent("whole.json")
      let run = try Demo.run("check", "--seeds", "0..399", "--summary", whole.path)
      let parts = (0..<8).map { folder.appendingPathComponent("part-\($0).json").path }
      for (place, part) in parts.enumerated() {
        let seeds = "\(place * 50)..\(place * 50 + 49)"
        #expect(try Demo.run("check", "--seeds", seeds, "--summary", part).status == 0)
      }
      let sum = folder.appendingPathComponent("sum.json")
      let words = ["check", "--merge"] + parts.reversed() + ["--summary", sum.path]
      let merged = try Demo(words).finish()
      #expect(merged.status == 0)
      #expect(merged.errors.isEmpty)
      #expect(try Self.text(sum) == Self.text(whole))
      #expect(Self.timeless(merged.output) == Self.timeless(run.output))
    }
  }

  @Test("summaries that share a seed are not added up: both files and the seed are named")
  func overlap() throws {
    try Self.inFolder { folder in
      let (one, other) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
      _ = try Demo.run("check", "--seeds", "0..9", "--summary", one.path)
      _ = try Demo.run("check", "--seeds", "7..12", "--summary", other.path)
      let run = try Demo.run("check", "--merge", one.path, other.path)
      #expect(run.status == 65)
      #expect(run.output.isEmpty)
      #expect(run.errors.contains("\(other.path): seed 7 is also in \(one.path)"))
    }
  }

  @Test("a summary of another version is named, with both versions")
  func versions() throws {
    try Self.inFolder { folder in
      let file = folder.appendingPathComponent("old.json")
      _ = try Demo.run("check", "--seeds", "0..1", "--summary", file.path)
      let old = try Self.text(file)
        .replacing(#/"package" : "[^"]*"/#, with: #""package" : "0.0.1""#)
      try old.write(to: file, atomically: true, encoding: .utf8)
      let run = try Demo.run("check", "--merge", file.path)
      #expect(run.status == 65)
      #expect(run.errors.contains("\(file.path): is of version 0.0.1 of the package"))
    }
  }

  @Test(
    "a file that is no summary is named, with what is wrong with it",
    arguments: [
      ("", "is no summary: is no JSON"),
      ("[]", "is no summary: must be an object"),
      ("{}", "is no summary: the key “"),
      (summary(seeds: #"{"first": 3, "last": 2}"#), "seeds[0]: ranges must rise"),
      (
        summary(seeds: #"{"first": 0, "last": 4}, {"first": 4, "last": 9}"#),
        "seeds[1]: ranges must rise"
      ),
      (
        summary(seeds: #"{"first": 0, "last": 18446744073709551615}"#),
        "seeds[0]: is more than"
      ),
      (summary(seeds: #"{"first": 0, "last": 1}"#, steps: .max), "has a count above"),
    ])
  func badSummary(text: String, problem: String) throws {
    try Self.inFolder { folder in
      let file = folder.appendingPathComponent("bad.json")
      try text.write(to: file, atomically: true, encoding: .utf8)
      let run = try Demo.run("check", "--merge", file.path)
      #expect(run.status == 65)
      #expect(run.output.isEmpty)
      #expect(run.errors.contains("\(file.path): "))
      #expect(run.errors.contains(problem), "\(run.errors)")
    }
  }

  @Test("a failure in a summary is shown and ends with 1; one that does not recur says so")
  func failure() throws {
    try Self.inFolder { folder in
      let file = folder.appendingPathComponent("failed.json")
      let failure = #"{"seed": 1, "promise": "I3", "finding": "two live", "seconds": 2.5}"#
      try summary(seeds: #"{"first": 0, "last": 1}"#, failures: failure)
        .write(to: file, atomically: true, encoding: .utf8)
      let run = try Demo.run("check", "--merge", file.path, "--out", folder.path)
      #expect(run.status == 1)
      #expect(run.output.hasPrefix("2 stories, seeds 0..1: 1 failed.\n"))
      #expect(run.output.contains("I3 1 (seed 1)"))
      #expect(run.output.contains("I3 broken by seed 1 at 2.500: two live\n"))
      #expect(run.output.contains("does not fail when it is read as a scenario"))
      #expect(run.errors.contains("check: 1 of 2 stories failed"))
    }
  }

  @Test("a summary that cannot be written is found out before anything is run")
  func unwritable() throws {
    let run = try Demo.run("check", "--seeds", "0..1", "--summary", "/no/such/folder/a.json")
    #expect(run.status == 74)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains("/no/such/folder/a.json: cannot be written: No such file"))
  }

  @Test("a summary that is not there ends with 66 and says how to make one")
  func missing() throws {
    let run = try Demo.run("check", "--merge", "/no/such/file.json")
    #expect(run.status == 66)
    #expect(run.errors.contains("/no/such/file.json: No such file or directory; fsm-demo check"))
  }

  @Test(
    "a command line that makes no sense ends with 64 and says what would",
    arguments: [
      (["--seeds", "x"], "--seeds “x” is no range of seeds: write A..B"),
      (["--seeds", "1...9"], "--seeds “1...9” is no range of seeds"),
      (["--seeds", "9..1"], "--seeds “9..1” ends before it begins"),
      (["--seeds", "0..18446744073709551615"], "is more than can be run"),
      (["--jobs", "0"], "--jobs “0” is no whole number"),
      (["--profile", "x"], "--profile “x” is unknown; there are machine, connection, websocket"),
      (["--merge"], "--merge needs the files of summaries"),
      (["--merge", "a", "--seeds", "1"], "--merge runs nothing"),
      (["a"], "“a” is one word too many"),
    ])
  func usage(arguments: [String], problem: String) throws {
    let run = try Demo(["check"] + arguments).finish()
    #expect(run.status == 64)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains(problem))
    #expect(run.errors.contains("try “fsm-demo help check”"))
  }
}

/// A summary as a file, which need not make sense; of this version of the package.
private func summary(seeds: String, steps: UInt64 = 1, failures: String = "") -> String {
  let version = (try? Demo.run("--version").output)?.dropFirst("fsm-demo ".count)
    .trimmingCharacters(in: .newlines)
  return """
    {"package": "\(version ?? "")", "profile": "machine", "seeds": [\(seeds)],
     "steps": \(steps), "dials": 1,
     "messages": {}, "failures": [\(failures)], "cells": {}, "digest": 1}
    """
}
