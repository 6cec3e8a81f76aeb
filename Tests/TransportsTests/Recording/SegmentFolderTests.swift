import ConnectionFSM
import Dispatch
import Foundation
import Testing
import Transports

@Suite("F56: recordings in a folder")
struct SegmentFolderTests {
  /// A folder of its own, gone afterwards.
  private func withFolder<Result>(
    _ body: (_ path: String) async throws -> Result
  ) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("recordings-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder.path)
  }

  private func files(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  private func record(_ steps: Int, in folder: String, name: String = "chat") async throws {
    let recorder = try TraceRecorder(
      folder: folder, name: name, segmentBytes: 8 << 10, segmentCount: 4,
      onFailure: { Issue.record($0) })
    var life = MonitoredMachine(recorder, policy: try MonitoredMachine.policy())
    try life.live(steps)
    await recorder.flush()
  }

  @Test("segments are files that only their owner reads, and replay")
  func files() async throws {
    try await withFolder { folder in
      try await record(60, in: folder)
      let files = try files(in: folder)
      #expect(files.first == "chat-000001.jsonl")
      for file in files {
        let path = "\(folder)/\(file)"
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        _ = try ReadSegment(text).replayed()
      }
    }
  }

  @Test("another run goes on behind the segments that are there, and removes the oldest of them")
  func runs() async throws {
    try await withFolder { folder in
      for name in ["chat-1.jsonl", "chat-000002.jsonl.bak", "chat-x.jsonl", "other-000001.jsonl"] {
        try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
      }
      try await record(30, in: folder)
      let first = try files(in: folder).filter { $0.hasPrefix("chat-00000") && $0.count == 17 }
      #expect(first.first == "chat-000001.jsonl")
      try await record(400, in: folder)
      let files = try files(in: folder)
      let segments = files.filter { $0.hasPrefix("chat-0") && $0.count == 17 }
      #expect(segments.count == 4)
      #expect(Set(segments).isDisjoint(with: first))
      #expect(files.count == 8)
      let kept = try String(contentsOfFile: "\(folder)/chat-1.jsonl", encoding: .utf8)
      #expect(kept == "mine")
    }
  }

  @Test("I21: a folder that is not there is an error that names it")
  func missing() throws {
    let error = #expect(throws: RecordingError.self) {
      try TraceRecorder(folder: "/no/such/folder", name: "chat", onFailure: { _ in })
    }
    #expect(error?.description == "recording: open /no/such/folder: No such file or directory")
  }

  @Test("a folder that goes away ends the recording with an error, and nothing else")
  func removed() async throws {
    let failed = DispatchSemaphore(value: 0)
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("recordings-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let recorder = try TraceRecorder(folder: folder.path, name: "chat") { error in
      if case .system("create", _, _, _) = error { failed.signal() }
    }
    try FileManager.default.removeItem(at: folder)
    var life = MonitoredMachine(recorder, policy: try MonitoredMachine.policy())
    try life.live(10)
    await recorder.flush()
    #expect(failed.wait(timeout: .now() + 20) == .success)
  }

  @Test(
    "a setting that cannot be is refused with what would do",
    arguments: [
      ("", "chat", 1 << 20, 4, "folder"), ("/tmp", "", 1 << 20, 4, "name"),
      ("/tmp", "a/b", 1 << 20, 4, "name"), ("/tmp", "a\0b", 1 << 20, 4, "name"),
      ("/tmp", "chat", 4_095, 4, "segmentBytes"), ("/tmp", "chat", 1 << 31, 4, "segmentBytes"),
      ("/tmp", "chat", 1 << 20, 1, "segmentCount"),
    ])
  func settings(folder: String, name: String, bytes: Int, count: Int, setting: String) throws {
    let error = #expect(throws: RecordingError.self) {
      try TraceRecorder(
        folder: folder, name: name, segmentBytes: bytes, segmentCount: count, onFailure: { _ in })
    }
    guard case .setting(setting, _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }
}
