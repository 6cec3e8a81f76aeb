import Testing
import Transports

@Suite("F26: the header of extensions")
struct ExtensionHeaderTests {
  private func read(_ fields: String...) -> [String]? {
    guard let header = try? ExtensionHeader(fields) else { return nil }
    return header.elements.map { element in
      let parameters = element.parameters.map { ";\($0.name)" + ($0.value.map { "=\($0)" } ?? "") }
      return element.name + parameters.joined()
    }
  }

  private func error(_ fields: String...) -> ExtensionHeaderError? {
    do throws(ExtensionHeaderError) { _ = try ExtensionHeader(fields) } catch { return error }
    return nil
  }

  @Test("F26: extensions and parameters are read in order, over any number of lines")
  func lists() {
    #expect(read("a") == ["a"])
    #expect(read("a;b;c=1,d") == ["a;b;c=1", "d"])
    #expect(read("a;b", "c;d=e", "a") == ["a;b", "c;d=e", "a"])
    #expect(read("!#$%&'*+-.^_`|~09azAZ") == ["!#$%&'*+-.^_`|~09azAZ"])
    // Nothing is folded: neither names nor values are told apart by case in the grammar.
    #expect(read("Foo; Bar=Baz") == ["Foo;Bar=Baz"])
  }

  @Test(
    "F26: spaces and tabs may stand around every separator, and empty elements count for nothing")
  func spaces() {
    #expect(read(" a \t; b\t=\t1 ;c , d ") == ["a;b=1;c", "d"])
    #expect(read(",, a ,\t, b,", "", " , ") == ["a", "b"])
  }

  @Test("F26: a quoted value is the token in it")
  func quotedValues() {
    #expect(read(#"a;b="10""#) == ["a;b=10"])
    #expect(read(#"a; b = "1\0" , c"#) == ["a;b=10", "c"])
    #expect(read(#"a;b="\x\y";c"#) == ["a;b=xy;c"])
  }

  @Test("F26: what breaks the grammar is told with its place")
  func errors() {
    func problem(
      _ text: String, _ offset: Int, _ problem: ExtensionHeaderError.Problem,
      _ location: SourceLocation = #_sourceLocation
    ) {
      let expected = ExtensionHeaderError(line: 1, offset: offset, problem: problem)
      #expect(error("good", text) == expected, sourceLocation: location)
    }
    problem("a;", 2, .tokenMissing)
    problem("a;;b", 2, .tokenMissing)
    problem(";a", 0, .tokenMissing)
    problem("a;b=", 4, .tokenMissing)
    problem("a;b=,c", 4, .tokenMissing)
    problem("a;=1", 2, .tokenMissing)
    problem("a, @", 3, .tokenMissing)
    problem("a b", 2, .separatorMissing)
    problem("a=1", 1, .separatorMissing)
    problem("a;b=1=2", 5, .separatorMissing)
    problem(#"a;b="1"2"#, 7, .separatorMissing)
    problem("ä", 0, .tokenMissing)
    problem("aä", 1, .separatorMissing)
    problem("a\u{0}", 1, .separatorMissing)
    problem("a\r\n b", 1, .separatorMissing)
    problem(#"a;b=""#, 5, .quoteUnfinished)
    problem(#"a;b="1"#, 6, .quoteUnfinished)
    problem(#"a;b="1\"#, 7, .quoteUnfinished)
    problem(#"a;b="""#, 6, .quotedNoToken)
    problem(#"a;b="1 2""#, 6, .quotedNoToken)
    problem(#"a;b="\"""#, 6, .quotedNoToken)
    for fields in [[""], [" "], [",", ",\t,"]] {
      #expect(throws: ExtensionHeaderError(line: 0, offset: 0, problem: .nothingListed)) {
        try ExtensionHeader(fields)
      }
    }
    #expect(
      "\(ExtensionHeaderError(line: 1, offset: 7, problem: .separatorMissing))"
        == "Sec-WebSocket-Extensions, line 1, byte 7: the list does not go on; "
        + "put a comma or a semicolon")
  }
}
