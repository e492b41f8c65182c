import CommandLineKit
import LoopbackHTTP
import WebServices

/// `faults`: fault injection on a running server.
struct Faults: Sendable {
  /// The action.
  enum Verb: Sendable {
    case list
    case carryOut(JSON)
  }

  let verb: Verb
  let address: Address

  /// Runs the command, and prints the pending faults.
  func run(_ output: Output) async throws -> CInt {
    let control = try address.open()
    defer { control.close() }
    let request: ControlRequest =
      switch verb {
      case .list: .get("faults")
      case .carryOut(let order): .post("faults", order)
      }
    let answer = try await control.json(request)
    if output.isJSON {
      Output.write(answer.indented + "\n")
    } else if case .carryOut(let order) = verb, !Faults.isPending(order) {
      Output.write("done\n")
    } else {
      Output.write(Faults.text(of: answer, width: output.terminal.width))
    }
    return 0
  }

  /// Whether an action changes the list of pending faults.
  private static func isPending(_ order: JSON) -> Bool {
    let actions = [
      "fail", "drop-answers", "delay", "hold", "release", "remove", "clear", "drop-pushes",
      "hold-pushes", "release-pushes",
    ]
    return order["action"]?.string.map(actions.contains) ?? false
  }

  private static func text(of answer: JSON, width: Int?) -> String {
    var text = ""
    let faults = answer["faults"]?.array ?? []
    if faults.isEmpty {
      text += "no faults\n"
    } else {
      let names = [
        "number", "action", "code", "seconds", "retryAfter", "point", "kind", "device", "count",
      ]
      var table = Table(names.map { .init($0 == "kind" ? "request" : $0) })
      for fault in faults { table.add(names.map { name in value(fault[name]) }) }
      text += table.plainText(width: width)
    }
    let held = (answer["heldRequests"]?.array ?? []).count
    if held > 0 { text += "\(count(held, "request")) held; release lets them go on\n" }
    if answer["holdsPushes"]?.bool == true {
      let pushes = (answer["heldPushes"]?.array ?? []).count
      text += "pushes are held, \(pushes) of them; release-pushes sends them\n"
    }
    for (name, value) in answer["changedLimits"]?.members?.elements.map({ ($0.name, $0.value) })
      ?? []
    {
      text += "limit \(name) is \(value.text)\n"
    }
    for quota in answer["quotas"]?.array ?? [] {
      text +=
        "quota of \(printable(quota["account"]?.string ?? "")) is "
        + "\(quota["bytes"]?.integer ?? 0) bytes\n"
    }
    return text
  }

  private static func value(_ json: JSON?) -> String { json.map { $0.string ?? $0.text } ?? "" }
}

extension Faults.Verb {
  /// The members that are always strings; all others are first parsed as JSON.
  private static let texts: Set<String> = [
    "device", "account", "container", "zone", "email", "phone", "givenName", "familyName",
    "subscription", "field", "recordType", "environment", "kind", "point", "database",
    "availability",
  ]

  /// Parses the action and its arguments.
  init(_ arguments: inout Arguments) throws(UsageError) {
    switch arguments.word() {
    case nil, "list": self = .list
    case "clear": self = .carryOut(.members(["action": .string("clear")]))
    case "remove":
      let word = try arguments.word("the number of the fault")
      guard let number = Int(word), number > 0 else {
        throw UsageError("\(quoted(word)) is not the number of a fault; faults list shows it")
      }
      self = .carryOut(.members(["action": .string("remove"), "number": .integer(number)]))
    case "add":
      var members = JSON.Members()
      let action = try arguments.word("the fault")
      guard !["clear", "remove"].contains(action) else {
        throw UsageError("\(action) adds no fault; write: cloudsync faults \(action)")
      }
      guard faultActionNames.contains(action) else {
        let meant = suggestion(for: action, of: faultActionNames)
        throw UsageError(
          "there is no fault \(quoted(action))"
            + (meant.isEmpty
              ? "; there are \(faultActionNames.joined(separator: ", "))" : meant))
      }
      members.add("action", .string(action))
      while let word = arguments.word() {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
          .map(String.init)
        guard parts.count == 2, !parts[0].isEmpty else {
          throw UsageError("\(quoted(word)) is not NAME=VALUE")
        }
        guard members[parts[0]] == nil else { throw UsageError("\(parts[0]) is given twice") }
        let json = Self.texts.contains(parts[0]) ? nil : try? JSON(parsing: Array(parts[1].utf8))
        members.add(parts[0], json ?? .string(parts[1]))
      }
      self = .carryOut(.object(members))
    case let verb?:
      throw UsageError("faults are listed, added, removed or cleared, not \(quoted(verb))")
    }
  }
}
