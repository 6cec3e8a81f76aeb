/// A list of at most two elements, in place: there are never more links than the one that counts
/// and the one that replaces it, and a referee that owns no memory is copied fast.
struct Few<Element: Sendable>: RandomAccessCollection, Sendable {
  private var front: Element?
  private var back: Element?

  var startIndex: Int { 0 }
  var endIndex: Int { front == nil ? 0 : back == nil ? 1 : 2 }

  subscript(place: Int) -> Element {
    get {
      guard let element = place == 0 ? front : back else {
        preconditionFailure("there is no such place")
      }
      return element
    }
    set {
      precondition(place < endIndex, "there is no such place")
      if place == 0 { front = newValue } else { back = newValue }
    }
  }

  /// Adds an element; the owner has seen to it that there is at most one.
  mutating func append(_ element: Element) {
    precondition(back == nil, "more than a few")
    if front == nil { front = element } else { back = element }
  }

  mutating func remove(at place: Int) {
    precondition(place < endIndex, "there is no such place")
    if place == 0 { front = back }
    back = nil
  }

  mutating func removeAll(where isUnwanted: (Element) -> Bool) {
    if let element = back, isUnwanted(element) { back = nil }
    if let element = front, isUnwanted(element) { remove(at: 0) }
  }
}
