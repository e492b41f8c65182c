import Records
import SyncMachine

extension StateInspection {
  /// What has to happen to the state of `old` to make it that of `new`; empty when, and only when,
  /// both states are the same.
  ///
  /// The order is always the same: the account, tokens and flags, then zones, then pending changes;
  /// within a list what is gone and what changed in the old order, then what is new in the new one.
  /// The files' forms and names don't count.
  /// - Complexity: Linear in the size of both states on average.
  package static func diff(
    _ old: StateInspection, _ new: StateInspection
  ) -> [StateDifference] {
    var comparison = StateComparison()
    comparison.compare(old.state, new.state)
    return comparison.differences
  }
}

/// Collects the differences between two states.
private struct StateComparison {
  private(set) var differences: [StateDifference] = []

  mutating func compare(_ old: SyncState, _ new: SyncState) {
    compare(
      "database", old.database.map { TerminalText.line($0.description) },
      new.database.map { TerminalText.line($0.description) })
    compare(
      "account", old.user.map { TerminalText.part($0.rawValue) },
      new.user.map { TerminalText.part($0.rawValue) })
    compare(
      "account before, until the app was told", StateComparison.previous(in: old),
      StateComparison.previous(in: new))
    compare("database token", old.databaseToken, new.databaseToken)
    compare(
      "subscription", old.subscription.map { TerminalText.part($0.rawValue) },
      new.subscription.map { TerminalText.part($0.rawValue) })
    compare("fetches before next send", old.needsFetch, new.needsFetch)
    compare("pending untracked changes", old.hasUntrackedChanges, new.hasUntrackedChanges)
    for zone in Set(old.zoneTokens.keys).union(new.zoneTokens.keys).sorted() {
      compare(
        "token of zone \(TerminalText.zone(zone))", old.zoneTokens[zone], new.zoneTokens[zone])
    }
    compareLists(
      "zones with unfetched changes", old.changedZones.map { ($0, "") },
      new.changedZones.map { ($0, "") }
    ) { id, _ in "zone with unfetched changes \(TerminalText.zone(id))" }
    compareLists(
      "zones to read from the start", old.expiredZones.sorted().map { ($0, "") },
      new.expiredZones.sorted().map { ($0, "") }
    ) { id, _ in "zone to read from the start \(TerminalText.zone(id))" }
    compareLists(
      "pending database changes", old.zones.unsettled.map { ($0.id, $0.kind.word) },
      new.zones.unsettled.map { ($0.id, $0.kind.word) }
    ) { id, kind in "pending \(kind) of zone \(TerminalText.zone(id))" }
    compareLists(
      "pending record zone changes", old.records.unsettled.map { ($0.id, $0.kind.word) },
      new.records.unsettled.map { ($0.id, $0.kind.word) }
    ) { id, kind in "pending \(kind) \(TerminalText.record(id))" }
  }

  private static func previous(in state: SyncState) -> String? {
    guard let unannounced = state.unannounced else { return nil }
    return unannounced.previous.map { TerminalText.part($0.rawValue) } ?? "no account"
  }

  private mutating func compare(_ what: String, _ old: String?, _ new: String?) {
    switch (old, new) {
    case (let old?, let new?):
      if old != new { differences.append(StateDifference(.changed(old: old, new: new), what)) }
    case (nil, let new?): differences.append(StateDifference(.added(new), what))
    case (let old?, nil): differences.append(StateDifference(.removed(old), what))
    case (nil, nil): break
    }
  }

  private mutating func compare(_ what: String, _ old: Bool, _ new: Bool) {
    guard old != new else { return }
    differences.append(
      StateDifference(.changed(old: old ? "yes" : "no", new: new ? "yes" : "no"), what))
  }

  private mutating func compare(_ what: String, _ old: ChangeToken?, _ new: ChangeToken?) {
    guard old != new else { return }
    var texts = [old, new].map { $0.map { TerminalText.token($0.bytes) } }
    // The difference may lie in the middle, which is left out of long tokens.
    if texts[0] == texts[1] {
      texts = [old, new].map { $0.map { TerminalText.token($0.bytes, isWhole: true) } }
    }
    compare(what, texts[0], texts[1])
  }

  /// Compares two lists in which each ID stands once; the word with an ID is its value.
  private mutating func compareLists<ID: Hashable>(
    _ list: String, _ old: [(id: ID, word: String)], _ new: [(id: ID, word: String)],
    name: (ID, String) -> String
  ) {
    let oldWords = Dictionary(old.map { ($0.id, $0.word) }) { first, _ in first }
    let newWords = Dictionary(new.map { ($0.id, $0.word) }) { first, _ in first }
    for (id, word) in old {
      if let newWord = newWords[id] {
        guard newWord != word else { continue }
        differences.append(StateDifference(.changed(old: word, new: newWord), name(id, "change")))
      } else {
        differences.append(StateDifference(.removed(nil), name(id, word)))
      }
    }
    for (id, word) in new where oldWords[id] == nil {
      differences.append(StateDifference(.added(nil), name(id, word)))
    }
    // What comes first is sent first, so the order of what both have counts as well.
    let oldOrder = old.filter { newWords[$0.id] != nil }.map(\.id)
    let newOrder = new.filter { oldWords[$0.id] != nil }.map(\.id)
    guard let place = zip(oldOrder, newOrder).enumerated().first(where: { $1.0 != $1.1 })?.offset
    else { return }
    differences.append(
      StateDifference(
        .changed(
          old: name(oldOrder[place], oldWords[oldOrder[place]] ?? ""),
          new: name(newOrder[place], newWords[newOrder[place]] ?? "")),
        "order of \(list), first at number \(TerminalText.number(place + 1)) of those in both"))
  }
}
