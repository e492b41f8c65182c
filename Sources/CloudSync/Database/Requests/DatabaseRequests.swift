import CloudProtocol
import Records

/// Everything that is asked of a database, in one place: the async calls, the completion handlers
/// and the operations all come here.
///
/// It checks what a device can check by itself, sends, and turns the answer into what apps read.
struct DatabaseRequests: Sendable {
  /// How many items one request may hold (CS-134).
  static let maximumItemCount = 400

  /// The way to the server.
  let connection: CloudConnection
  /// Which of the container's databases.
  let scope: CKDatabase.Scope

  /// Carries one request to the server.
  func send(_ request: CloudRequest) async throws(CKError) -> CloudReply {
    try await connection.send(request, to: scope)
  }

  /// Refuses requests with more items than one may hold.
  func checkCount(_ count: Int) throws(CKError) {
    guard count > DatabaseRequests.maximumItemCount else { return }
    throw CKError(
      .limitExceeded,
      """
      The request contains \(count) items which is more than the maximum number of items in a \
      single request (\(DatabaseRequests.maximumItemCount)). Split it in half and send both.
      """)
  }

  /// Refuses modifications that hold too many items, or name one twice.
  func checkModification<ID: Hashable>(
    saving saved: [ID], deleting deleted: [ID], _ kind: String
  ) throws(CKError) {
    try checkCount(saved.count + deleted.count)
    var seen: Set<ID> = []
    for id in saved where !seen.insert(id).inserted {
      throw CKError(
        .invalidArguments, "You can't save the same \(kind) twice in one request: \(id).")
    }
    var gone: Set<ID> = []
    for id in deleted {
      guard !seen.contains(id) else {
        throw CKError(
          .invalidArguments, "You can't save and delete the same \(kind) in one request: \(id).")
      }
      guard gone.insert(id).inserted else {
        throw CKError(
          .invalidArguments, "You can't delete the same \(kind) twice in one request: \(id).")
      }
    }
  }

  /// The IDs without repetitions, in the same order.
  func unique<ID: Hashable>(_ ids: [ID]) -> [ID] {
    var seen: Set<ID> = []
    return ids.filter { seen.insert($0).inserted }
  }
}

extension FieldSelection {
  /// The fields an app wants: `nil` is all, an empty list is none.
  package init(_ desiredKeys: [CKRecord.FieldKey]?) {
    guard let desiredKeys else {
      self = .all
      return
    }
    self = desiredKeys.isEmpty ? .none : .keys(desiredKeys)
  }
}
