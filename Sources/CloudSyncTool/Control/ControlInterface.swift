import CommandLineKit
import Foundation
import LoopbackHTTP
import WebServices

/// A connection to a server's control interface.
protocol ControlInterface: Sendable {
  /// Sends a request, and returns the body of the response.
  ///
  /// - Throws: `ToolError` if there is no response, or an error response.
  func send(_ request: ControlRequest) async throws -> [UInt8]

  /// Sends a request, shows the progress of its transfer if it has one, and returns the body of the
  /// response.
  ///
  /// - Throws: `ToolError` if there is no response, or an error response.
  func send(
    _ request: ControlRequest, showing words: Transfer.Words, _ output: Output
  ) async throws -> [UInt8]

  /// Closes the connection.
  func close()
}

/// A request to the control interface.
struct ControlRequest: Sendable {
  /// The path after `/cloudsync/1/`.
  var endpoint: String
  /// The parameters; those without a value are omitted.
  var parameters: [(name: String, value: String?)] = []
  /// The body of a `POST` request; `nil` for `GET`.
  var body: [UInt8]?
  /// The content type of the body.
  var bodyType = "application/json"
  /// The exit code if the server finds the request wrong.
  var refusedCode = ExitCode.usage
  /// The text before the message if the server refuses an item of the body, given its index.
  var prefix: @Sendable (Int?) -> String = { _ in "" }

  /// A `GET` request.
  static func get(
    _ endpoint: String, _ parameters: [(name: String, value: String?)] = []
  ) -> ControlRequest {
    ControlRequest(endpoint: endpoint, parameters: parameters)
  }

  /// A `POST` request.
  static func post(_ endpoint: String, _ body: JSON) -> ControlRequest {
    ControlRequest(endpoint: endpoint, body: body.bytes)
  }

  /// The path and the query string.
  var target: (path: String, query: String?) {
    let query = parameters.compactMap { name, value in
      value?.addingPercentEncoding(withAllowedCharacters: ControlRequest.unescaped)
        .map { "\(name)=\($0)" }
    }.joined(separator: "&")
    return ("/cloudsync/1/\(endpoint)", query.isEmpty ? nil : query)
  }

  private static let unescaped = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._")
}

extension ControlInterface {
  func send(
    _ request: ControlRequest, showing words: Transfer.Words, _ output: Output
  ) async throws -> [UInt8] {
    try await send(request)
  }

  /// Sends a request and parses the JSON response.
  func json(_ request: ControlRequest) async throws -> JSON { try json(await send(request)) }

  /// Parses a JSON response.
  func json(_ body: [UInt8]) throws -> JSON {
    do { return try JSON(parsing: body) } catch {
      throw ToolError("the server is not a cloudsync server: its response is not JSON")
    }
  }
}

/// The error for a rejected request to the control interface.
func refusal(_ request: ControlRequest, _ status: Int, _ body: [UInt8]) -> ToolError {
  let answer = try? JSON(parsing: body)
  let reason = answer?["reason"]?.string
  let item = answer?["index"]?.integer.flatMap { Int(exactly: $0) }
  return switch (status, reason) {
  case (401, _):
    ToolError(
      "the server does not accept this control token; use the value of "
        + "\(Variable.controlToken) of the server, or the token that it printed when it started",
      code: ExitCode.noPermission)
  case (_, let reason?):
    ToolError(
      "\(request.prefix(item))the server refused: \(printable(reason))",
      code: [
        400: request.refusedCode, 403: ExitCode.noPermission, 404: ExitCode.unknownName,
      ][status] ?? ExitCode.failure)
  default: ToolError("the server refused with the status \(status); is it a cloudsync server?")
  }
}
