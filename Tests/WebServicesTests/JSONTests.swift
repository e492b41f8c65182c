import Testing

@testable import WebServices

@Suite("JSON, strictly")
struct JSONTests {
  @Test(
    "What is read is written again",
    arguments: [
      "null", "true", "[1,-2,0.5,-0.0,9223372036854775807]", #"{"a":[],"b":{},"c":"x"}"#,
    ])
  func roundTrip(_ text: String) throws {
    #expect(try JSON(parsing: Array(text.utf8)).text == text)
  }
}
