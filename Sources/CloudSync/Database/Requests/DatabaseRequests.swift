import CloudProtocol
import Records

/// The requests to a database, used by the async methods, the completion handlers and the
/// operations.
///
/// Checks the arguments, sends the request and converts the reply.
struct DatabaseRequests: Sendable {
  /// The maximum number of items in one request (CS-134).
  static let maximumItemCount = 400

  /// The connection to the server.
  let connection: CloudConnection
  /// The scope of the database.
  let scope: CKDatabase.Scope

  /// Sends one request to the server.
  func send(_ request: CloudRequest) async throws(CKError) -> CloudReply {
    try await connection.send(request, to: scope)
  }

  /// Throws `limitExceeded` for too many items.
  func checkCount(_ count: Int) throws(CKError) {
    guard count > DatabaseRequests.maximumItemCount else { return }
    throw CKError(
      .limitExceeded,
      """
      The request contains \(count) items which is more than the maximum number of items in a \
      single request (\(DatabaseRequests.maximumItemCount)). Split it in half and send both.
      """)
  }

  /// Throws for a modification with too many items, or with the same item twice.
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
}

extension FieldSelection {
  /// The fields named by `desiredKeys`: `nil` selects all, an empty list none.
  package init(_ desiredKeys: [CKRecord.FieldKey]?) {
    guard let desiredKeys else {
      self = .all
      return
    }
    self = desiredKeys.isEmpty ? .none : .keys(desiredKeys)
  }
}
