import CloudProtocol

/// The result of a request, with the errors of the items that failed.
protocol RequestResults: Sendable {
  /// The errors of the items that failed, by ID.
  var failures: [AnyHashable: CKError] { get }
}

/// The results of the items of a request, in the order of the request.
struct ItemResults<ID: Hashable & Sendable, Value: Sendable>: RequestResults {
  /// An item and its result.
  typealias Item = (id: ID, result: Result<Value, CKError>)

  /// The results with the IDs that the request named.
  var items: [Item]

  /// The results by ID, as the async methods return them.
  var byID: [ID: Result<Value, any Error>] {
    Dictionary(items.map { ($0.id, $0.result.widened) }) { first, _ in first }
  }

  /// The values of the items that succeeded.
  var values: [Value] { items.compactMap(\.result.success) }

  /// The values of the items that succeeded, by ID.
  var valuesByID: [ID: Value] {
    Dictionary(items.compactMap { item in item.result.success.map { (item.id, $0) } }) {
      first, _ in first
    }
  }

  /// The IDs of the items that succeeded.
  var successfulIDs: [ID] { items.filter { $0.result.success != nil }.map(\.id) }

  /// The errors of the items that failed.
  var failures: [AnyHashable: CKError] {
    Dictionary(items.compactMap { item in item.result.failure.map { (item.id, $0) } }) {
      first, _ in first
    }
  }

  /// The value of the item `id`.
  /// - Throws: the error of the item.
  func only(_ id: ID) throws(CKError) -> Value {
    guard let item = items.first(where: { $0.id == id }) else {
      throw .unanswered(String(describing: id))
    }
    return try item.result.get()
  }
}

extension ItemResults {
  /// Converts a server's answers to results, one for each requested ID.
  ///
  /// - Parameters:
  ///   - answers: The server's answers.
  ///   - ids: The requested IDs.
  ///   - key: The ID by which the server knows an item.
  ///   - clientRecord: The record that was to be saved, for conflicts.
  ///   - value: Converts a value.
  init<Key, Answer>(
    _ answers: [ItemResult<Key, Answer>], for ids: [ID], by key: (ID) -> Key,
    clientRecord: (ID) -> CKRecord? = { _ in nil }, _ value: (ID, Answer) -> Value
  ) {
    let outcomes = Dictionary(answers.map { ($0.id, $0.outcome) }) { first, _ in first }
    items = ids.map { id in
      switch outcomes[key(id)] {
      case .success(let answer): (id, .success(value(id, answer)))
      case .failure(let error):
        (id, .failure(CKError(error, clientRecord: clientRecord(id))))
      case nil: (id, .failure(.unanswered(String(describing: id))))
      }
    }
  }
}

/// The results of the saves and deletions of a request.
struct ModifyResults<ID: Hashable & Sendable, Value: Sendable>: RequestResults {
  /// The saves.
  var saved = ItemResults<ID, Value>(items: [])
  /// The deletions.
  var deleted = ItemResults<ID, Void>(items: [])

  /// The errors of the items that failed.
  var failures: [AnyHashable: CKError] {
    saved.failures.merging(deleted.failures) { first, _ in first }
  }

  /// The results by ID, as the async methods return them.
  var byID:
    (saveResults: [ID: Result<Value, any Error>], deleteResults: [ID: Result<Void, any Error>])
  {
    (saved.byID, deleted.byID)
  }
}

extension Array where Element: Hashable {
  /// The elements without repetitions, in the same order.
  var withoutRepetitions: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
