import CloudProtocol
import Records
import SyncMachine

/// I12, on the device: the app is told what became of every member of a request, once, and no more.
///
/// ``CloudOracle`` checks the server's handling of a batch.
struct BatchChecker {
  private var saves: Set<RecordID>?
  private var deletions: Set<RecordID> = []

  /// The engine sends a batch.
  mutating func note(sending request: ModifyRecords) {
    saves = Set(request.save.map(\.id))
    deletions = Set(request.delete)
  }

  /// The fault in reporting this now; `nil` for none.
  mutating func fault(telling sent: SentRecords) -> String? {
    guard let saves else { return "the app is told of changes that were not sent" }
    self.saves = nil
    return Self.fault(sent.saved.map(\.id), saves, "save")
      ?? Self.fault(sent.deleted.map(\.id), deletions, "deletion")
  }

  private static func fault(
    _ told: [RecordID], _ sent: Set<RecordID>, _ what: String
  ) -> String? {
    let answered = Set(told)
    if answered.count != told.count { return "a \(what) is told of twice" }
    if let missing = sent.subtracting(answered).min() {
      return "the \(what) of \(missing.path) has no outcome"
    }
    return answered.subtracting(sent).min().map { "a \(what) of \($0.path) was never sent" }
  }
}
