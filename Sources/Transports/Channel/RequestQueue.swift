/// Requests in order: one may leave at the head, or from anywhere when it is taken back.
struct RequestQueue<Element: Sendable>: Sendable {
  private var elements: [Element] = []
  private var head = 0

  var count: Int { elements.count - head }
  var isEmpty: Bool { head == elements.count }

  var first: Element? {
    get { isEmpty ? nil : elements[head] }
    set {
      guard let newValue, !isEmpty else { return }
      elements[head] = newValue
    }
  }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func removeFirst() {
    head += 1
    // Each element is moved at most once on the average.
    guard head * 2 >= elements.count else { return }
    elements.removeFirst(head)
    head = 0
  }

  /// Removes the first element of that kind; nil if there is none.
  mutating func remove(where matches: (Element) -> Bool) -> Element? {
    guard let index = elements[head...].firstIndex(where: matches) else { return nil }
    return elements.remove(at: index)
  }

  /// Removes all, and gives them in order.
  mutating func removeAll() -> [Element] {
    defer {
      elements = []
      head = 0
    }
    return Array(elements[head...])
  }
}
