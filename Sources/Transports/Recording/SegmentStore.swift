/// Where the segments of a recording lie, by their numbers. Used by the recorder's thread alone.
package protocol SegmentStore: Sendable {
  /// The numbers of the segments that are there, in any order.
  func numbers() throws(RecordingError) -> [UInt64]
  /// Makes an empty segment, to which ``append(_:)`` goes from then on.
  func begin(_ number: UInt64) throws(RecordingError)
  /// Appends whole lines to the segment that was begun last.
  func append(_ bytes: [UInt8]) throws(RecordingError)
  /// Removes a segment; that it is gone already is no error.
  func remove(_ number: UInt64) throws(RecordingError)
  /// Lets go of the segment that was begun last.
  func end()
}
