import Foundation
import NetSim
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("Trace page")
struct TracePageTests {
  private static func page(_ name: String) throws -> String {
    try Views.show(name, in: TracePage(title: name, seed: 1)).text
  }

  /// What is between two marks.
  private static func part(_ text: String, from start: String, to end: String) throws -> String {
    let first = try #require(text.range(of: start)).upperBound
    let last = try #require(text.range(of: end, range: first..<text.endIndex)).lowerBound
    return String(text[first..<last])
  }

  private static func data(_ page: String) throws -> [String: Any] {
    let json = try part(
      page, from: "<script type=\"application/json\" id=\"data\">", to: "</script>")
    let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
    return try #require(object as? [String: Any])
  }

  /// Takes the page apart as strictly as XML is.
  private final class Outline: NSObject, XMLParserDelegate {
    var elements: [String] = []
    var attributes: [String] = []

    func parser(
      _: XMLParser, didStartElement name: String, namespaceURI: String?,
      qualifiedName: String?, attributes: [String: String] = [:]
    ) {
      elements.append(name)
      self.attributes += attributes.map { "\($0.key)=\($0.value)" }
    }
  }

  private static func outline(_ page: String) throws -> Outline {
    // The insides of script and style are not HTML.
    var text = page.replacingOccurrences(of: "<!doctype html>", with: "")
    for (start, end) in [("<style>", "</style>"), ("id=\"data\">", "</script>")] {
      text = text.replacingOccurrences(of: try part(text, from: start, to: end), with: "")
    }
    text = text.replacingOccurrences(
      of: try part(text, from: "<script>", to: "</script>"), with: "")
    let outline = Outline()
    let parser = XMLParser(data: Data(text.utf8))
    parser.delegate = outline
    #expect(parser.parse(), "\(String(describing: parser.parserError))")
    return outline
  }

  @Test("the page is well formed", arguments: Views.names)
  func wellFormed(name: String) throws {
    let outline = try Self.outline(Self.page(name))
    #expect(outline.elements.filter { $0 == "script" }.count == 2)
    #expect(outline.elements.contains("svg") && outline.elements.contains("table"))
  }

  @Test("the page refers to nothing outside, and forbids it")
  func selfContained() throws {
    let page = try Self.page("tour")
    for word in ["http:", "https:", "//", "src=", "href=", "url(", "@import", "fetch(", "import("] {
      // A comment of the script begins with two slashes and a space.
      #expect(!page.replacingOccurrences(of: "// ", with: "").contains(word), "\(word)")
    }
    #expect(page.contains("content=\"default-src 'none'; "))
  }

  @Test("foreign text can end no element: it is data in the script and text in the heading")
  func hostile() throws {
    let title = "<script>alert(2)</script> & 'it' \"is\""
    let page = try Views.show(json: Views.hostile, in: TracePage(title: title, seed: 1)).text
    let outline = try Self.outline(page)
    #expect(outline.elements.filter { $0 == "script" }.count == 2)
    #expect(!page.contains("<script>alert") && !page.contains("<!-- x"))
    #expect(page.contains("<h1>&lt;script&gt;alert(2)&lt;/script&gt; &amp; &#39;it&#39;"))
    let notes = try #require(try Self.data(page)["notes"] as? [[Any]])
    #expect(
      notes.first?[1] as? String == """
        net.server_up: </script><script>alert(1)</script> & "quoted" \\ \u{1}\u{2028}é
        <!-- x
        """)
  }

  @Test("the script writes text and never markup")
  func textOnly() throws {
    let page = try Self.page("tour")
    for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
      #expect(!page.contains(word), "\(word)")
    }
  }

  @Test("the data has every step with its cause, every span, and notes at their places")
  func data() throws {
    let data = try Self.data(Self.page("tour"))
    let steps = try #require(data["steps"] as? [[Any]])
    #expect(steps.map { $0[0] as? Int } == Array(1...36))
    #expect(steps.allSatisfy { $0.count == 11 && ($0[2] as? Int ?? 99) < ($0[0] as? Int ?? 0) })
    // The deadline of the pong was set by the ping.
    #expect(steps[12][3] as? String == "deadline" && steps[12][2] as? Int == 12)
    #expect((data["attempts"] as? [[Any]])?.count == 7)
    #expect((data["pings"] as? [[Any]])?.count == 2)
    #expect((data["depths"] as? [[Any]])?.last?[1] as? Int == 0)
    let notes = try #require(data["notes"] as? [[Any]])
    #expect(notes.map { $0[2] as? Int } == [0, 9, 11, 23, 26, 27])
    #expect(data["end"] as? Int64 == 75_042_268_136)
  }

  @Test("the page of a seed is the same to the byte")
  func deterministic() throws {
    #expect(try Self.page("tour") == Self.page("tour"))
  }

  @Test("a trace without a step makes a page, too")
  func empty() throws {
    let page = TracePage(title: "nothing", seed: 1).text
    _ = try Self.outline(page)
    let steps = try Self.data(page)["steps"] as? [Any]
    #expect(steps?.isEmpty == true)
  }
}
