import CommandLineKit
import Foundation
import WebServices

/// `keys`: the keys of programs that sign their requests.
struct Keys: Sendable {
  /// The action.
  enum Verb: Hashable, Sendable {
    case list
    case add(path: String, name: String?)
    case remove(id: String)
  }

  let verb: Verb
  let address: Address

  /// Parses the action and its arguments.
  init(
    _ arguments: inout Arguments, _ environment: [String: String]
  ) throws(UsageError) {
    switch arguments.word() {
    case nil, "list": verb = .list
    case "add":
      verb = .add(path: try arguments.word("the file"), name: arguments.value("name"))
    case "remove": verb = .remove(id: try arguments.word("the key's ID"))
    case let word?:
      throw UsageError("keys are listed, added or removed, not \(quoted(word))")
    }
    address = try Address(&arguments, environment)
  }

  /// Runs the command, and prints the keys.
  func run(_ output: Output) async throws -> CInt {
    let control = try address.open()
    defer { control.close() }
    var request: ControlRequest
    switch verb {
    case .list: request = .get("keys")
    case .add(let path, let name):
      let pem = try readText(path)
      request = .post(
        "keys", .members(["publicKey": .string(pem), "name": name.map { .string($0) }]))
      request.refusedCode = ExitCode.data
    case .remove(let id): request = .post("keys", .members(["remove": .string(id)]))
    }
    let answer = try await control.json(request)
    if output.isJSON {
      Output.write(answer.indented + "\n")
      return 0
    }
    var table = Table([.init("key ID"), .init("name", .text)])
    for key in answer["keys"]?.array ?? [] {
      table.add([key["keyID"]?.string ?? "", key["name"]?.string ?? ""])
    }
    let isEmpty = answer["keys"]?.array?.isEmpty ?? true
    Output.write(isEmpty ? "no keys\n" : table.plainText(width: output.terminal.width))
    return 0
  }
}
