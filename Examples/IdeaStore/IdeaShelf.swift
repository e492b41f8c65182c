import Foundation
import SyncSupport

/// All rows in memory, and the rule by which news of the cloud changes them.
///
/// A value without a clock or a file; nothing in it depends on the order of a dictionary.
struct IdeaShelf: Sendable {
  private(set) var rows: [String: IdeaRow] = [:]
  /// The names of the rows with something pending.
  private(set) var pending: Set<String> = []
  /// The names of the records that can't be read by this version of the app.
  private(set) var unreadable: Set<String> = []
  /// The names of the rows that differ from what is on the disk.
  private var dirty: Set<String> = []
  private var lastNumber: UInt64 = 0

  /// How two versions of one idea came together.
  enum Outcome: Hashable, Sendable {
    /// Nothing new.
    case known
    /// The cloud's version is shown now.
    case took
    /// Both had changed it, and the cloud's change was later.
    case cloudWon
    /// Both had changed it, and this device's change is later; it is to be sent.
    case localWon
    /// It can't be read by this version of the app; it is kept and not shown.
    case unreadable(IdeaError)
    /// It was deleted in the cloud, and here now.
    case removed
    /// It was deleted in the cloud while it was changed here; it is to be made anew.
    case survived
  }

  subscript(name: String) -> IdeaRow? { rows[name] }

  mutating func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// Puts a row in place that is on the disk already.
  mutating func adopt(_ row: IdeaRow) {
    drop(row.name)
    rows[row.name] = row
    lastNumber = max(lastNumber, row.changeNumber)
    if row.isPending { pending.insert(row.name) }
    if row.unreadable != nil { unreadable.insert(row.name) }
  }

  /// Takes a row out that is not on the disk any more.
  mutating func drop(_ name: String) {
    rows[name] = nil
    pending.remove(name)
    unreadable.remove(name)
  }

  /// Puts a row in place, to be written.
  mutating func put(_ row: IdeaRow) {
    guard rows[row.name] != row else { return }
    adopt(row)
    dirty.insert(row.name)
  }

  /// Notes that everything is on the disk.
  mutating func noteWritten() { dirty = [] }

  /// What differs from the disk, as a transaction.
  var unwritten: IdeaTransaction {
    var transaction = IdeaTransaction()
    for name in dirty.sorted() {
      if let row = rows[name] {
        transaction.rows.append(row)
      } else {
        transaction.removed.append(name)
      }
    }
    return transaction
  }

  /// The rows to be sent, in the order of their changes.
  var toBeSent: [IdeaRow] {
    pending.compactMap { rows[$0] }.filter(\.isToBeSent).sorted {
      ($0.changeNumber, $0.name) < ($1.changeNumber, $1.name)
    }
  }

  // MARK: News of the cloud

  /// Takes in a record as the cloud has it.
  mutating func take(_ record: CKRecord, at moment: Date) -> Outcome {
    let name = record.recordID.recordName
    var row = rows[name] ?? IdeaRow(name: name)
    if row.tag != nil, row.tag == record.recordChangeTag { return .known }
    let remote: Idea
    do {
      remote = try Idea(reading: record)
    } catch {
      row.unreadable = error.description
      row.tag = record.recordChangeTag
      row.archive = record.allFields
      put(row)
      return .unreadable(error)
    }
    row.unreadable = nil
    row.tag = record.recordChangeTag
    row.archive = IdeaRecord.archive(record)
    row.remoteVersion = remote.version
    row.lastSyncedAt = moment
    let outcome = merge(remote, into: &row)
    put(row)
    return outcome
  }

  /// Reads the records again that an older version of the app could not read.
  mutating func readAgain(at moment: Date) {
    for name in unreadable.sorted() {
      guard var row = rows[name], let record = row.archive.flatMap({ CKRecord(archive: $0) }) else {
        continue
      }
      let isWhole = !record.allKeys().isEmpty
      guard !isWhole || (try? Idea(reading: record)) != nil else { continue }
      // Older versions kept no fields; a tag that no record has lets it be fetched again.
      row.tag = isWhole ? nil : ""
      put(row)
      if isWhole { _ = take(record, at: moment) }
    }
  }

  private mutating func merge(_ remote: Idea, into row: inout IdeaRow) -> Outcome {
    guard let local = row.idea else { return accept(remote, &row, .took) }
    if let deletedAt = row.deletedAt {
      // Only who deleted it knows when, and so whether a change is later.
      guard row.isDeletedHere, remote.updatedAt <= deletedAt else {
        return accept(remote, &row, row.isPending ? .cloudWon : .took)
      }
      return insist(&row)
    }
    if local.isSame(as: remote) {
      row.isPending = false
      return .took
    }
    if remote.wins(over: local) {
      return accept(remote, &row, row.isPending ? .cloudWon : .took)
    }
    return insist(&row)
  }

  private func accept(_ remote: Idea, _ row: inout IdeaRow, _ outcome: Outcome) -> Outcome {
    row.idea = remote
    row.deletedAt = nil
    row.isDeletedHere = false
    row.isPending = false
    return outcome
  }

  /// This device's version is the later one, so the cloud is to have it.
  private mutating func insist(_ row: inout IdeaRow) -> Outcome {
    if !row.isPending {
      row.isPending = true
      row.changeNumber = nextNumber()
    }
    return .localWon
  }

  /// Takes in that the cloud has no record of this name.
  mutating func takeDeletion(of name: String, at moment: Date) -> Outcome {
    guard var row = rows[name] else { return .known }
    guard row.idea != nil else {
      drop(name)
      dirty.insert(name)
      return .removed
    }
    let wasThere = row.tag != nil
    row.tag = nil
    row.remoteVersion = nil
    row.unreadable = nil
    defer { put(row) }
    if row.deletedAt != nil {
      row.isPending = false
      return .removed
    }
    if row.isPending { return wasThere ? .survived : .known }
    row.deletedAt = moment
    row.isDeletedHere = false
    return .removed
  }
}
