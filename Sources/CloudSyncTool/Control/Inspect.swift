import CommandLineKit
import Foundation
import LoopbackHTTP
import WebServices

/// `inspect`: the contents of a server.
struct Inspect: Sendable {
  /// The subject to show; `nil` for a summary.
  var subject: Subject?
  var address: Address
  var choice = DatabaseChoice()
  /// The scope of the database that an account's subscriptions belong to; `nil` for private.
  var scope: String?
  /// The maximum number of entries.
  var limit = Inspect.usualLimit
  /// The start of the list: after the record, change or request with this name or number.
  var after: String?

  /// The default maximum number of entries.
  static let usualLimit = 200

  /// Fetches and prints the entries.
  func run(_ output: Output) async throws -> CInt {
    let control = try address.open()
    defer { control.close() }
    guard let subject else {
      try await summarize(control, output)
      return 0
    }
    var choice = choice
    // An account can have a subscription in a database that holds nothing else.
    let isNamed = scope != nil && choice.container != nil && choice.account != nil
    if subject.needsDatabase, !isNamed { choice = try await choice.found(by: control) }
    if subject.needsZone { choice = try await choice.foundZone(by: control) }
    let answer = try await answer(subject, choice, control)
    if output.isJSON {
      Output.write(answer.indented + "\n")
    } else {
      Output.write(page(of: subject, answer, width: output.terminal.width))
      explain(subject, answer, output)
    }
    return 0
  }

  /// Prints a reason for an empty result.
  private func explain(_ subject: Subject, _ answer: JSON, _ output: Output) {
    guard answer[subject.member]?.array?.isEmpty == true else { return }
    if subject == .devices || subject == .requests, case .file = address {
      output.note("cloudsync: only a running server knows its \(subject.rawValue)")
    }
  }

  private func answer(
    _ subject: Subject, _ choice: DatabaseChoice, _ control: any ControlInterface
  ) async throws -> JSON {
    var parameters: [(name: String, value: String?)] = []
    if subject.needsDatabase { parameters += choice.parameters }
    if subject.needsZone { parameters.append(("zone", choice.zone)) }
    if subject == .subscriptions { parameters.append(("scope", scope)) }
    guard subject.hasPages else {
      return try await control.json(
        .get(subject.rawValue, parameters.filter { subject != .schema || $0.name != "account" }))
    }
    // For logs the latest entries are shown, for other lists the first.
    if subject == .changes, after == nil, limit <= ControlRoutes.longestPage {
      parameters.append(("latest", String(max(1, limit))))
    }
    let takesLatest =
      after == nil
      && (subject == .requests || subject == .changes && limit > ControlRoutes.longestPage)
    var entries: [JSON] = []
    var after = after
    while true {
      let wanted = takesLatest ? .max : limit - entries.count
      let size = max(1, min(ControlRoutes.longestPage, wanted))
      let asked = parameters + [("after", after), ("limit", String(size))]
      let answer = try await control.json(.get(subject.rawValue, asked))
      let page = answer[subject.rawValue]?.array ?? []
      entries += page.prefix(wanted)
      after = answer["next"]?.string ?? answer["next"]?.integer.map { String($0) }
      // A short page is the last one, and so is one without a next page.
      if entries.count >= limit && !takesLatest || page.count < size || after == nil {
        return Inspect.joined(
          answer, subject.rawValue, takesLatest ? entries.suffix(limit) : entries)
      }
    }
  }

  /// The last page with the entries of all pages.
  private static func joined(_ answer: JSON, _ name: String, _ entries: [JSON]) -> JSON {
    var members = JSON.Members()
    for element in answer.members?.elements ?? [] {
      members.add(element.name, element.name == name ? .array(entries) : element.value)
    }
    return .object(members)
  }

  // MARK: Text

  private func page(of subject: Subject, _ answer: JSON, width: Int?) -> String {
    let entries = answer[subject.member]?.array ?? []
    var text =
      entries.isEmpty
      ? limit == 0 && subject == .records ? "" : "no \(subject.words)\n"
      : subject.table(of: entries).plainText(width: width)
    if subject == .zones, let gone = answer["deletedZones"]?.array, !gone.isEmpty {
      var table = Table([.init("deleted zone"), .init("reason")])
      for zone in gone {
        table.add([zone["zoneID"]?["zoneName"]?.string ?? "", zone["reason"]?.string ?? ""])
      }
      text += "\n" + table.plainText(width: width)
    }
    if let total = answer["count"]?.integer, total > entries.count {
      let hint =
        entries.count == limit ? "; --limit all shows all" : after == nil ? "" : ", after --after"
      text += "\(entries.count) of \(count(Int(total), "record"))\(hint)\n"
    } else if subject.hasPages, entries.count == limit, limit > 0 {
      text += "the \(after == nil ? "latest" : "next") \(limit); --limit all shows all\n"
    }
    return text
  }

  private func summarize(_ control: any ControlInterface, _ output: Output) async throws {
    let status = try await control.json(.get("status"))
    let accounts = try await control.json(.get("accounts"))
    let databases = try await control.json(.get("databases"))
    if output.isJSON {
      let all = JSON.members([
        "status": status, "accounts": accounts["accounts"], "databases": databases["databases"],
      ])
      Output.write(all.indented + "\n")
      return
    }
    var place = ""
    switch address {
    case .server(let url, _): place = url.absoluteString
    case .file(let path): place = ServerData.name(path)
    }
    var text = "\(printable(place))\n"
    for (subject, answer) in [(Subject.accounts, accounts), (.databases, databases)] {
      let entries = answer[subject.rawValue]?.array ?? []
      text += "\n\(count(entries.count, String(subject.rawValue.dropLast())))\n"
      if !entries.isEmpty {
        text += subject.table(of: entries).plainText(width: output.terminal.width)
      }
    }
    if case .server = address {
      let devices = Int(status["devices"]?.integer ?? 0)
      let faults = status["faultControl"]?.bool == true ? "on" : "off"
      text += "\n\(count(devices, "device")), fault control \(faults)\n"
    }
    Output.write(text)
  }
}
