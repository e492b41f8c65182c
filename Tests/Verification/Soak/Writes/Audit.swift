import LoopbackServer
import SQLite

/// The comparison of what was promised with what is there in the end.
struct Audit {
  let writes: AcknowledgedWrites
  /// The rows that a new device fetched.
  private(set) var truth: [NoteKey: Replica.Row] = [:]
  /// Writes that were acknowledged and are not there.
  private(set) var lost = 0
  /// Writes that were made more than once.
  private(set) var doubled = 0

  init(_ writes: AcknowledgedWrites, readers: [Replica]) {
    self.writes = writes
    for (key, row) in readers.flatMap(\.rows) {
      if let first = truth.updateValue(row, forKey: key), first.version != row.version {
        writes.violation("the two accounts read different things")
      }
    }
  }

  private mutating func lost(_ text: String, count: Int = 1) {
    lost += count
    writes.violation(text)
  }

  private mutating func doubled(_ text: String, count: Int = 1) {
    doubled += count
    writes.violation(text)
  }

  /// Every acknowledged save must be in the record, or the record must have been deleted.
  mutating func checkAcknowledged() {
    for (key, page) in writes.pages {
      guard let note = truth[key]?.note, let version = truth[key]?.version else {
        if page.isDeleted, page.acknowledged <= page.ending ?? 0 { continue }
        if page.acknowledged == 0, !page.isDeleted { continue }
        lost("\(key) is not there; version \(page.acknowledged) was acknowledged")
        continue
      }
      if page.acknowledged > note.version {
        lost("\(key) has version \(note.version); \(page.acknowledged) was acknowledged")
      }
      if let tag = page.tags[note.version], tag != version.tag {
        lost("version \(note.version) of \(key) has tag \(version.tag), and was seen as \(tag)")
      }
      for (device, count) in page.counts where note.counts[device] < count {
        lost(
          "\(key) has \(note.counts[device]) edits of device \(device); \(count) were acknowledged")
      }
    }
  }

  /// Every device must have what the server has, and every edit made on it must be there once.
  mutating func check(_ replica: Replica) {
    let rows = replica.rows
    let versions = rows.compactMapValues(\.version)
    let realms = Set(replica.realms.values)
    let expected = truth.filter { realms.contains($0.key.realm) }.compactMapValues(\.version)
    if versions != expected {
      let different = expected.filter { versions[$0.key] != $0.value }.keys.map(\.description)
      writes.violation(
        "\(replica.name) has \(versions.count) notes where there are \(expected.count); "
          + "different: \(different.sorted().prefix(5))")
    }
    for text in replica.unsent { writes.violation(text) }
    guard let device = replica.device else { return }
    for (key, row) in rows {
      guard let note = truth[key]?.note else { continue }
      if note.counts[device] < row.edits {
        lost("\(key) has \(note.counts[device]) of the \(row.edits) edits of device \(device)")
      } else if note.counts[device] > row.edits {
        doubled(
          "\(key) has \(note.counts[device]) edits of device \(device), which made \(row.edits)")
      }
    }
  }

  /// The server numbers its changes: there must be as many as the records' own counters say.
  mutating func checkLogs(_ server: LoopbackServer) throws {
    for (account, name) in ServerChild.accounts.enumerated() {
      var first: UInt64 = 0
      var last: UInt64 = 0
      for zone in try server.zones(container: Site.identifier, account: name) {
        for change in try server.changeLog(of: zone, container: Site.identifier, account: name) {
          last = max(last, change.sequence)
          if change.type == Site.markerType { first = change.sequence }
          let realm = Realm(owner: account, zoneName: change.record.zone.name)
          check(change, NoteKey(realm: realm, name: change.record.name))
        }
      }
      let pages = writes.pages.filter { $0.key.realm.owner == account }
      let recorded = pages.reduce(0) { sum, page in
        let end = page.value.isDeleted ? (page.value.ending ?? 0) + 1 : 0
        return sum + (truth[page.key]?.note?.version ?? end)
      }
      let numbered = Int(last - first)
      let text =
        "the server made \(numbered) changes for \(name); the records account for \(recorded)"
      if numbered > recorded { doubled(text, count: numbered - recorded) }
      if numbered < recorded { lost(text, count: recorded - numbered) }
    }
  }

  private func check(_ change: ServerChange, _ key: NoteKey) {
    guard change.type == Note.recordType else { return }
    if change.changeTag?.rawValue != truth[key]?.version?.tag {
      writes.violation("the server's log says otherwise about \(key)")
    }
  }

  /// Looks at every page of the server's file.
  static func checkFile(_ path: String, _ writes: AcknowledgedWrites) throws {
    let connection = try Connection(path: path, mode: .readOnly)
    let findings = try connection.rows("PRAGMA integrity_check") { try $0.text(0) }
    try connection.close()
    if findings != ["ok"] { writes.violation("the server's file is damaged: \(findings)") }
  }
}
