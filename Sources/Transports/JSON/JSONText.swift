import Foundation

/// Whether bytes are JSON.
///
/// By Foundation's older parser: the decoder, which `FoundationEssentials` has as well, looks into
/// texts and numbers only where a value is asked for, and asking for one of the wrong kind costs it
/// more than reading many.
enum JSONText {
  /// - Parameter allowsAnyTop: Whether the top level may be something else than an object or an
  ///   array.
  static func check(_ bytes: [UInt8], allowsAnyTop: Bool = false) throws(JSONError) {
    let options: JSONSerialization.ReadingOptions = allowsAnyTop ? .fragmentsAllowed : []
    do {
      _ = try JSONSerialization.jsonObject(with: Data(bytes), options: options)
    } catch {
      // It knows the place, and tells it here alone.
      let told = (error as NSError).userInfo["NSDebugDescription"] as? String
      throw JSONError(told ?? "\(error)")
    }
  }
}
