import CommandLineKit
import LoopbackHTTP
import WebServices

/// A way to a server's control interface.
protocol ControlInterface: Sendable {
  /// Asks, and returns the body of the answer.
  ///
  /// - Throws: `ToolError` when there is no answer, or a refusal.
  func ask(_ question: ControlQuestion) async throws -> [UInt8]

  /// Lets go of the server.
  func close()
}

/// One request to the control interface.
struct ControlQuestion: Sendable {
  /// What stands behind `/cloudsync/1/`.
  var endpoint: String
  /// The parameters; those without a value are left out.
  var parameters: [(name: String, value: String?)] = []
  /// The body, which makes it a `POST`.
  var body: [UInt8]?
  /// What kind of text the body is.
  var bodyType = "application/json"

  /// Reads something.
  static func get(
    _ endpoint: String, _ parameters: [(name: String, value: String?)] = []
  ) -> ControlQuestion {
    ControlQuestion(endpoint: endpoint, parameters: parameters)
  }

  /// Has something done.
  static func post(_ endpoint: String, _ body: JSON) -> ControlQuestion {
    ControlQuestion(endpoint: endpoint, body: body.bytes)
  }

  /// The path, and what follows the question mark.
  var target: (path: String, query: String?) {
    let query = parameters.compactMap { name, value in
      value.map { "\(name)=\(ControlQuestion.escaped($0))" }
    }.joined(separator: "&")
    return ("/cloudsync/1/\(endpoint)", query.isEmpty ? nil : query)
  }

  private static func escaped(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"):
        bytes.append(byte)
      default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension ControlInterface {
  /// Asks for JSON.
  func json(_ question: ControlQuestion) async throws -> JSON {
    let body = try await ask(question)
    do { return try JSON(parsing: body) } catch {
      throw ToolError("what answered is no server of this kind: its answer is not JSON")
    }
  }
}

/// Why the control interface refused something, in words for people.
func refusal(_ status: Int, _ body: [UInt8]) -> ToolError {
  let reason = (try? JSON(parsing: body))?["reason"]?.string
  return switch (status, reason) {
  case (401, _):
    ToolError(
      "the server does not take this control token; give the one it printed when it started")
  case (_, let reason?): ToolError("the server refused: \(printable(reason))")
  default: ToolError("the server refused with the status \(status); is it one of this kind?")
  }
}
