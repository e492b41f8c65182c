import Foundation
import SyncSupport
import Synchronization

/// Sending the changes and deletions of this device.
extension IdeaStore {
  /// The most changes of one request.
  public static let batchLimit = 100
  /// How many bytes of text a request holds, well under what the server takes.
  private static let batchBytes = 1_500_000
  /// How many rounds of one pass may settle nothing before it ends.
  private static let mostIdleRounds = 3

  /// Sends pending changes until none is left that can be sent.
  func send(_ generation: Int) async throws {
    var idleRounds = 0
    while idleRounds < Self.mostIdleRounds {
      try await checkDeletions(generation)
      let batches = Self.batches(state.withLock { $0.rowsThatMayGo })
      guard !batches.isEmpty else { return try checkSpace() }
      // An account's ideas must never reach another account.
      guard try await verifyAccount() == generation else { throw AccountChanged() }
      var settled = 0
      for batch in batches { settled += try await send(batch, generation) }
      idleRounds = settled > 0 ? 0 : idleRounds + 1
    }
    throw CKError(.partialFailure)
  }

  private func checkSpace() throws {
    let waits = state.withLock { state in
      state.activity.isStorageFull && state.shelf.toBeSent.contains { $0.deletedAt == nil }
    }
    if waits { throw CKError(.quotaExceeded) }
  }

  /// Looks at records before they are deleted.
  ///
  /// CloudKit deletes whatever is there, so a later change of another device would be lost unseen.
  /// What is gone already needs no request.
  private func checkDeletions(_ generation: Int) async throws {
    let rows = state.withLock { $0.rowsThatMayGo }.filter { $0.deletedAt != nil }
    let (records, gone) = try await records(named: rows.map(\.name))
    try change(in: generation) { state in
      for record in records { state.take(record) }
      for name in gone { state.takeDeletion(of: name) }
    }
  }

  /// Groups of at most 100 rows, each for one request.
  private static func batches(_ rows: [IdeaRow]) -> [[IdeaRow]] {
    var batches: [[IdeaRow]] = []
    var bytes = 0
    for row in rows {
      let size = 500 + (row.idea.map { $0.title.utf8.count + $0.description.utf8.count } ?? 0)
      if let last = batches.last, last.count < batchLimit, bytes + size <= batchBytes {
        batches[batches.count - 1].append(row)
        bytes += size
      } else {
        batches.append([row])
        bytes = size
      }
    }
    return batches
  }

  /// Sends one request, or several where the server finds it too large; returns how many changes
  /// are settled.
  private func send(_ batch: [IdeaRow], _ generation: Int) async throws -> Int {
    let (rows, records) = try change(in: generation) { state in
      // A change made meanwhile is sent in the next round.
      let rows = batch.filter { row in
        state.mayGo(row) && state.shelf[row.name]?.changeNumber == row.changeNumber
      }
      return (rows, rows.filter { $0.deletedAt == nil }.map { state.record(for: $0) })
    }
    guard !rows.isEmpty else { return 0 }
    var answers: [(row: IdeaRow, answer: IdeaState.Answer)] = []
    do {
      let results = try await container.privateCloudDatabase.modifyRecords(
        saving: records, deleting: rows.filter { $0.deletedAt != nil }.map(\.recordID),
        atomically: false)
      for row in rows {
        let saved = results.saveResults[row.recordID]?.map { $0 as CKRecord? }
        let deleted = results.deleteResults[row.recordID]?.map { _ in nil as CKRecord? }
        guard let result = saved ?? deleted else { continue }
        answers.append((row, result.mapError { $0 as? CKError ?? CKError(.internalError) }))
      }
    } catch let error as CKError where error.code == .limitExceeded && rows.count > 1 {
      let half = rows.count / 2
      return try await send(Array(rows[..<half]), generation)
        + send(Array(rows[half...]), generation)
    } catch let error as CKError where error.code != .operationCancelled {
      answers = rows.map { ($0, .failure(error)) }
    }
    let report = try change(in: generation) { state in
      defer { state.tell() }
      return state.take(answers)
    }
    if let passing = report.passing { throw passing }
    return report.settled
  }
}

extension IdeaState {
  /// The rows whose change may be sent now, in the order of their changes.
  fileprivate var rowsThatMayGo: [IdeaRow] { shelf.toBeSent.filter(mayGo) }
}
