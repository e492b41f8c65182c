import CommandLineKit
import Foundation
import WebServices

/// `watch`: prints a server's events as they occur.
struct Watch: Sendable {
  let address: Address

  /// The time in seconds for which a response waits for an event.
  private static let wait = "25"

  /// Prints events until it is interrupted, or the server ends.
  func run(_ output: Output) async throws -> Never {
    let signals = try ReceivedSignals()
    signals.handle { _ in Output.end(0) }
    let control = try address.open()
    defer { control.close() }
    try await follow(control, output)
  }

  private func follow(_ control: any ControlInterface, _ output: Output) async throws -> Never {
    let status = try await control.json(.get("status"))
    var last = status["lastEvent"]?.integer ?? 0
    output.note("cloudsync: watching; interrupt to end")
    while true {
      let parameters = [(name: "after", value: String(last)), (name: "wait", value: Watch.wait)]
      let page: JSON
      do {
        page = try await control.json(.get("events", parameters))
      } catch let error as ToolError where error.code == ExitCode.unavailable {
        throw ToolError("the server has stopped", code: ExitCode.unavailable)
      }
      if page["missed"]?.bool == true { output.note("cloudsync: some events were missed") }
      for event in page["events"]?.array ?? [] {
        Output.write((output.isJSON ? event.text : Watch.line(event)) + "\n")
      }
      last = page["next"]?.integer ?? last
    }
  }

  /// An event as one line of text.
  private static func line(_ event: JSON) -> String {
    var words = [time(event["time"])]
    let kind = event["kind"]?.string ?? ""
    let content = event[kind]
    func word(_ name: String) -> String? { content?[name]?.string }
    switch kind {
    case "request":
      words += [word("device") ?? "", word("account").map { "(\($0))" } ?? "(nobody)"]
      words += [word("kind") ?? "", word("database") ?? "", word("container") ?? ""]
      words.append(count(Int(content?["itemCount"]?.integer ?? 0), "item"))
      words.append(word("code") ?? word("outcome") ?? "")
    case "push":
      words += ["push to", word("device") ?? "", word("fate") ?? ""]
      words += [word("database") ?? "", word("container") ?? "", word("zone") ?? ""]
    case "administration":
      words += ["administration", word("account") ?? "public", word("container") ?? ""]
    case "replacement": words.append("everything was replaced")
    default: words.append(kind)
    }
    return printable(words.filter { !$0.isEmpty }.joined(separator: "  "))
  }
}
