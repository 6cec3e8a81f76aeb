/// Elements in order of arrival: one leaves at the head, or from anywhere when it is taken back.
///
/// Inlinable: other modules would not see what the elements are, and pay for that with each call.
package struct FIFO<Element> {
  @usableFromInline var elements: [Element] = []
  @usableFromInline var head = 0

  @inlinable package init() {}

  @inlinable package var count: Int { elements.count - head }
  @inlinable package var isEmpty: Bool { head == elements.count }

  @inlinable package var first: Element? {
    get { isEmpty ? nil : elements[head] }
    set {
      guard let newValue, !isEmpty else { return }
      elements[head] = newValue
    }
  }

  /// The element so many places behind the head.
  @inlinable package subscript(place: Int) -> Element {
    get { elements[head + place] }
    set { elements[head + place] = newValue }
  }

  @inlinable package mutating func append(_ element: Element) { elements.append(element) }

  @discardableResult
  @inlinable package mutating func popFirst() -> Element? {
    guard let element = first else { return nil }
    head += 1
    // Each element is moved at most once on the average, and at most half of the memory is spent.
    if head * 2 >= elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }

  /// Removes the first element of that kind; nil if there is none.
  @inlinable package mutating func remove(where matches: (Element) -> Bool) -> Element? {
    guard let index = elements[head...].firstIndex(where: matches) else { return nil }
    return elements.remove(at: index)
  }

  /// Removes all, and gives them in order.
  @inlinable package mutating func removeAll() -> [Element] {
    defer {
      elements = []
      head = 0
    }
    return Array(elements[head...])
  }
}

extension FIFO: Sendable where Element: Sendable {}
