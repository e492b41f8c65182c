import CloudSync
import Foundation
import LoopbackServer
import Records
import SQLite

/// The comparison of what was promised with what is there in the end.
struct Audit {
  let ledger: Ledger
  /// The notes that a new device fetched.
  let truth: [NoteKey: Note]
  let versions: [NoteKey: Version]
  /// Writes that were acknowledged and are not there.
  private(set) var lost = 0
  /// Writes that were made more than once.
  private(set) var doubled = 0

  init(_ ledger: Ledger, readers: [Replica]) {
    self.ledger = ledger
    var truth: [NoteKey: Note] = [:]
    var versions: [NoteKey: Version] = [:]
    for reader in readers {
      versions.merge(reader.versions) { first, second in
        if first != second { ledger.violation("the two accounts read different things") }
        return first
      }
      truth.merge(reader.notes) { first, _ in first }
    }
    self.truth = truth
    self.versions = versions
  }

  /// Every acknowledged save must be in the record, or the record must have been deleted.
  mutating func checkAcknowledged() {
    for (key, page) in ledger.pages {
      guard let note = truth[key], let version = versions[key] else {
        if page.isDeleted, page.acknowledged <= page.ending ?? 0 { continue }
        if page.acknowledged == 0, !page.isDeleted { continue }
        lost += 1
        ledger.violation("\(key) is not there; version \(page.acknowledged) was acknowledged")
        continue
      }
      if page.acknowledged > note.version {
        lost += 1
        ledger.violation(
          "\(key) has version \(note.version); \(page.acknowledged) was acknowledged")
      }
      if let tag = page.tags[note.version], tag != version.tag {
        lost += 1
        ledger.violation(
          "version \(note.version) of \(key) has tag \(version.tag), and was seen as \(tag)")
      }
      for (device, count) in page.counts where note.counts[device] < count {
        lost += 1
        ledger.violation(
          "\(key) has \(note.counts[device]) edits of device \(device); \(count) were acknowledged")
      }
    }
  }

  /// Every device must have what the server has, and every edit made on it must be there once.
  mutating func check(_ replica: Replica) {
    let realms = Set(replica.place.realms.values)
    let expected = versions.filter { realms.contains($0.key.realm) }
    if replica.versions != expected {
      let different = expected.filter { replica.versions[$0.key] != $0.value }.keys.map(
        \.description)
      ledger.violation(
        "\(replica.name) has \(replica.versions.count) notes where there are \(expected.count); "
          + "different: \(different.sorted().prefix(5))")
    }
    for text in replica.unsent { ledger.violation(text) }
    guard let device = replica.place.device else { return }
    for (key, edits) in replica.edits {
      guard let note = truth[key] else { continue }
      if note.counts[device] < edits {
        lost += 1
        ledger.violation(
          "\(key) has \(note.counts[device]) of the \(edits) edits of device \(device)")
      } else if note.counts[device] > edits {
        doubled += 1
        ledger.violation(
          "\(key) has \(note.counts[device]) edits of device \(device), which made \(edits)")
      }
    }
  }

  /// The server numbers its changes: there must be as many as the records' own counters say.
  mutating func checkLogs(_ server: LoopbackServer) throws {
    for (account, name) in ServerChild.accounts.enumerated() {
      var writes = 0
      var first: UInt64 = 0
      var last: UInt64 = 0
      for zone in try server.zones(container: Site.identifier, account: name) {
        for change in try server.changeLog(of: zone, container: Site.identifier, account: name) {
          last = max(last, change.sequence)
          if change.type == Site.markerType { first = change.sequence }
          check(change, account)
        }
      }
      for (key, page) in ledger.pages where key.realm.owner == account {
        if let note = truth[key] {
          writes += note.version
        } else if page.isDeleted {
          writes += (page.ending ?? 0) + 1
        }
      }
      let numbered = Int(last - first)
      guard numbered != writes else { continue }
      if numbered > writes { doubled += numbered - writes } else { lost += writes - numbered }
      ledger.violation(
        "the server made \(numbered) changes for \(name); the records account for \(writes)")
    }
  }

  private func check(_ change: ServerChange, _ account: Int) {
    guard change.type == Note.recordType else { return }
    let realm: Realm =
      change.record.zone.name == Realm.commonZone ? .common : .own(account: account)
    let key = NoteKey(realm: realm, name: change.record.name)
    if change.changeTag?.rawValue != versions[key]?.tag {
      ledger.violation("the server's log says otherwise about \(key)")
    }
  }

  /// Looks at every page of the server's file.
  static func checkFile(_ path: String, _ ledger: Ledger) throws {
    let connection = try Connection(path: path, mode: .readOnly)
    let findings = try connection.rows("PRAGMA integrity_check") { try $0.text(0) }
    try connection.close()
    if findings != ["ok"] { ledger.violation("the server's file is damaged: \(findings)") }
  }
}
