import CloudSync
import Records
import SyncMachine

extension StateInspection {
  /// The state for people: one line an entry, counts first, each list cut short.
  ///
  /// Names are shown so that they can't steer a terminal, and are put into quotation marks where a
  /// slash or a space in them could be taken for something else.
  /// - Parameter limit: How many entries of each list are shown at most; 0 shows only how many
  ///   there are.
  /// - Returns: Lines that each end with a line feed.
  package func text(limit: Int = 20) -> String {
    var page = TextPage(limit: max(0, limit))
    writeFile(to: &page)
    writeCounts(to: &page)
    writeSettings(to: &page)
    let tokens = state.zoneTokens.sorted { $0.key < $1.key }
    page.list("zone tokens", tokens) {
      (TerminalText.zone($0.key), TerminalText.token($0.value.bytes))
    }
    page.list("zones with unfetched changes", state.changedZones) { (TerminalText.zone($0), "") }
    page.list("zones to read from the start", state.expiredZones.sorted()) {
      (TerminalText.zone($0), "")
    }
    page.list("pending database changes", state.zones.unsettled) {
      ($0.kind.word, TerminalText.zone($0.id))
    }
    page.list("pending record zone changes", state.records.unsettled) {
      ($0.kind.word, TerminalText.record($0.id))
    }
    return page.text
  }

  private func writeFile(to page: inout TextPage) {
    let size = TerminalText.count(byteCount, "byte", "bytes")
    let shown = TerminalText.line(name)
    switch form {
    case .log(let log):
      page.line("\(shown): state log, \(size), format \(LogFormat.version)")
      page.line(
        "  a snapshot of \(TerminalText.count(log.snapshotBytes, "byte", "bytes")) in format "
          + "\(stateFormat), then \(TerminalText.count(log.entryCount, "entry", "entries")) with "
          + TerminalText.count(log.stepCount, "step", "steps"))
      if log.unfinishedBytes > 0 {
        let verb = log.unfinishedBytes == 1 ? "is" : "are"
        page.line(
          "  the last \(TerminalText.count(log.unfinishedBytes, "byte", "bytes")) \(verb) "
            + "unfinished: cut off by a crash, or being written now; an engine takes no account "
            + "of them")
      }
    case .encoded(let formats, let place):
      page.line("\(shown): encoded state, \(size), format \(stateFormat)")
      if !formats.isEmpty {
        let ways = formats.reversed().joined(separator: " in ")
        page.line("  in \(ways)\(place.isEmpty ? "" : ", at \(TerminalText.line(place))")")
      }
    }
    if isUnchecked {
      page.line("  damaged: its checksum does not match, so what follows may be wrong")
    }
  }

  private func writeCounts(to page: inout TextPage) {
    let records = state.records.unsettled.map(\.kind)
    let zones = state.zones.unsettled.map(\.kind)
    page.line("")
    page.table([
      ("pending record zone changes", TextPage.split(records)),
      ("pending database changes", TextPage.split(zones)),
      ("pending untracked changes", state.hasUntrackedChanges ? "yes" : "no"),
      ("zone tokens", TerminalText.number(state.zoneTokens.count)),
      ("zones with unfetched changes", TerminalText.number(state.changedZones.count)),
      ("zones to read from the start", TerminalText.number(state.expiredZones.count)),
    ])
  }

  private func writeSettings(to page: inout TextPage) {
    var account = state.user.map { TerminalText.part($0.rawValue) } ?? "none"
    if let unannounced = state.unannounced {
      let previous = unannounced.previous.map { TerminalText.part($0.rawValue) } ?? "none"
      account += ", of which the app may not have been told (before: \(previous))"
    }
    page.line("")
    var rows = [
      ("account", account),
      ("database token", state.databaseToken.map { TerminalText.token($0.bytes) } ?? "none"),
      ("subscription", state.subscription.map { TerminalText.part($0.rawValue) } ?? "none"),
      ("fetches before next send", state.needsFetch ? "yes" : "no"),
    ]
    if let database = state.database {
      rows.insert(("database", TerminalText.line(database.description)), at: 0)
    }
    page.table(rows)
  }
}

/// Lines for people.
private struct TextPage {
  private(set) var text = ""
  let limit: Int

  init(limit: Int) { self.limit = limit }

  mutating func line(_ line: String) { text += line + "\n" }

  /// Two columns, of which the first is as wide as its widest.
  mutating func table(_ rows: [(String, String)], indent: String = "") {
    let width = rows.map(\.0.count).max() ?? 0
    for (first, second) in rows {
      let gap = String(repeating: " ", count: width - first.count + 2)
      line(indent + (second.isEmpty ? first : first + gap + second))
    }
  }

  /// A list under a heading; nothing when it is empty.
  mutating func list<Element>(
    _ heading: String, _ elements: [Element], row: (Element) -> (String, String)
  ) {
    guard !elements.isEmpty, limit > 0 else { return }
    line("")
    line("\(heading) (\(TerminalText.number(elements.count)))")
    table(elements.prefix(limit).map(row), indent: "  ")
    if elements.count > limit {
      line("  ... and \(TerminalText.number(elements.count - limit)) more")
    }
  }

  /// A count and what it is made of.
  static func split(_ kinds: [ChangeKind]) -> String {
    guard !kinds.isEmpty else { return "0" }
    let saves = kinds.count { $0 == .save }
    return "\(TerminalText.number(kinds.count)) (\(TerminalText.count(saves, "save", "saves")), "
      + "\(TerminalText.count(kinds.count - saves, "deletion", "deletions")))"
  }
}
