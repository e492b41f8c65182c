import CloudProtocol

/// What became of the items of a request, in the order they were asked for.
struct ItemResults<ID: Hashable & Sendable, Value: Sendable>: Sendable {
  /// An item and what became of it.
  typealias Item = (id: ID, result: Result<Value, CKError>)

  /// The items.
  var items: [Item]

  /// The results by ID, as the convenience calls give them.
  var byID: [ID: Result<Value, any Error>] {
    Dictionary(items.map { ($0.id, $0.result.widened) }) { first, _ in first }
  }

  /// The values of the items that went well.
  var values: [Value] { items.compactMap(\.result.success) }

  /// The values of the items that went well, by ID.
  var valuesByID: [ID: Value] {
    Dictionary(items.compactMap { item in item.result.success.map { (item.id, $0) } }) {
      first, _ in first
    }
  }

  /// The items that went well.
  var successfulIDs: [ID] { items.filter { $0.result.success != nil }.map(\.id) }

  /// The errors of the items that did not.
  var failures: [AnyHashable: CKError] {
    Dictionary(items.compactMap { item in item.result.failure.map { (item.id, $0) } }) {
      first, _ in first
    }
  }

  /// The one result of a request about one item, or its error.
  func only(_ id: ID) throws(CKError) -> Value {
    guard let item = items.first(where: { $0.id == id }) else {
      throw .unanswered(String(describing: id))
    }
    return try item.result.get()
  }
}

extension ItemResults {
  /// Turns a server's answers into results, one for each ID asked for.
  ///
  /// - Parameters:
  ///   - answers: What the server said.
  ///   - ids: The items asked for, in that order.
  ///   - face: The form apps know an ID in.
  ///   - clientRecord: The record that was to be saved, for conflicts.
  ///   - value: The form apps know a value in.
  init<Item, Answer>(
    _ answers: [ItemResult<Item, Answer>], for ids: [ID], _ face: (Item) -> ID,
    clientRecord: (ID) -> CKRecord? = { _ in nil }, _ value: (ID, Answer) -> Value
  ) {
    let outcomes = Dictionary(answers.map { (face($0.id), $0.outcome) }) { first, _ in first }
    items = ids.map { id in
      switch outcomes[id] {
      case .success(let answer): (id, .success(value(id, answer)))
      case .failure(let error):
        (id, .failure(CKError(error, clientRecord: clientRecord(id))))
      case nil: (id, .failure(.unanswered(String(describing: id))))
      }
    }
  }

  /// Turns a server's answers into results, in its order: for requests that ask for all.
  init<Item, Answer>(
    all answers: [ItemResult<Item, Answer>], _ face: (Item) -> ID, _ value: (Answer) -> Value
  ) {
    self.init(answers, for: answers.map { face($0.id) }, face) { value($1) }
  }
}

/// What became of the saves and deletions of a request.
struct ModifyResults<ID: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The saves.
  var saved: ItemResults<ID, Value>
  /// The deletions.
  var deleted: ItemResults<ID, Void>

  /// Of a request that asked for nothing.
  static var empty: ModifyResults {
    ModifyResults(saved: ItemResults(items: []), deleted: ItemResults(items: []))
  }

  /// The errors of all items that failed.
  var failures: [AnyHashable: CKError] {
    saved.failures.merging(deleted.failures) { first, _ in first }
  }

  /// The results by ID, as the convenience calls give them.
  var byID:
    (saveResults: [ID: Result<Value, any Error>], deleteResults: [ID: Result<Void, any Error>])
  {
    (saved.byID, deleted.byID)
  }
}
