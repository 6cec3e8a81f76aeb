import ConnectionFSM
import Testing
import Transports

@Suite("F32: JSON and Codable")
struct JSONMessageTests {
  private struct Order: Codable, Equatable {
    struct Item: Codable, Equatable {
      var name: String
      var count: Int
    }

    var id: UInt64
    var items: [Item]
    var note: String?
  }

  private func error<Value: Decodable>(_ json: String, as type: Value.Type) -> JSONError? {
    do throws(JSONError) { _ = try Message(json).decoded(as: type) } catch { return error }
    return nil
  }

  @Test("F32: a value is written as the published peers write: pretty, with escaped slashes")
  func golden() throws {
    let cases: [(any Encodable, String)] = [
      (["name": "Veeco"], "{\n  \"name\" : \"Veeco\"\n}"),
      ([String: Int](), "{\n\n}"), ([Int](), "[\n\n]"),
      (["b": "x/y", "a": "ü"], "{\n  \"a\" : \"ü\",\n  \"b\" : \"x\\/y\"\n}"),
    ]
    for (value, text) in cases {
      let message = try Message(encoding: value)
      #expect(message.text == text && message.kind == .object)
    }
  }

  @Test("F32: a value comes back as it was, from objects and from text")
  func roundTrip() throws {
    let order = Order(
      id: .max, items: [.init(name: "é\n\"", count: -1), .init(name: "", count: 0)], note: nil)
    let message = try Message(encoding: order)
    #expect(try message.decoded() == order)
    #expect(try Message(message.text).decoded(as: Order.self) == order)
    #expect(try Message(encoding: order) == message)
  }

  @Test("B1.5: a value that is neither object nor array, or no JSON, is refused")
  func notEncodable() {
    let values: [any Encodable] = [5, "text", true, Double.infinity, [Double.nan], String?.none]
    for value in values {
      #expect(throws: JSONError.self, "\(value)") { try Message(encoding: value) }
    }
  }

  @Test("F32: what does not fit is told with its place")
  func places() {
    let good = "{\"id\":1,\"items\":[{\"name\":\"a\",\"count\":1},"
    let missing = error(good + "{\"name\":\"b\"}]}", as: Order.self)
    #expect(missing?.path == "items[1].count")
    #expect(missing?.description.contains("is missing") == true)
    let wrong = error(good + "{\"name\":5,\"count\":1}]}", as: Order.self)
    #expect(wrong?.description.contains("items[1].name: must be text") == true)
    let null = error("{\"id\":null,\"items\":[]}", as: Order.self)
    #expect(null?.path == "id")
    #expect(error("{\"id\":1.5,\"items\":[]}", as: Order.self) != nil)
    for text in ["", "{", "nonsense", "{\"id\":01}"] {
      #expect(error(text, as: Order.self)?.description.hasPrefix("JSON: ") == true)
    }
  }

  @Test("F32: a type tag that is unknown need be no failure")
  func unknownTag() throws {
    struct Envelope: Decodable {
      let type: String
    }
    let message = Message("{\"type\":\"tomorrow\",\"payload\":[1]}")
    #expect(try message.decoded(as: Envelope.self).type == "tomorrow")
  }
}
