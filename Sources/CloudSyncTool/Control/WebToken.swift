import CommandLineKit
import LoopbackHTTP
import WebServices

/// `token`: web tokens of accounts.
enum WebToken {
  /// Prints a web token of an account, which is created if there is none of this name.
  static func issue(to account: String, by address: Address, _ output: Output) async throws {
    let control = try address.open()
    defer { control.close() }
    let answer = try await control.json(.post("sign-in", .members(["account": .string(account)])))
    if output.isJSON {
      Output.write(answer.indented + "\n")
    } else {
      Output.write((answer["webAuthToken"]?.string ?? "") + "\n")
    }
  }
}
