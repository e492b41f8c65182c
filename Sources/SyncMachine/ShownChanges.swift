import CloudProtocol
package import Records

/// The part of the pending changes that the app has read while it built a batch.
package struct ShownChanges: Hashable, Sendable {
  /// The number of times that the app has read the list.
  package var readings: Int
  /// Whether the first reading has listed only a part of the changes in the scope of the send.
  package var isPart: Bool
  /// The number of changes in the scope of the send at the front of the list that contains the
  /// batch; `nil` if the batch is empty or does not follow the order of the list.
  package var reach: Int?

  /// Describes the readings of the app.
  package init(readings: Int, isPart: Bool, reach: Int?) {
    self.readings = readings
    self.isPart = isPart
    self.reach = reach
  }
}

/// The maximum number of pending changes that the app is shown when it builds a batch.
///
/// It is shown all of them until it sends the front of the list: until it has read the list once
/// for a batch whose saves, and whose deletions, are in the order of the list. Then a front of the
/// list is sufficient, and a batch does not cost more the more changes are pending. The app is
/// shown all of them again after any other answer.
package struct ShownLimit: Hashable, Sendable {
  /// The smallest limit.
  private let least: Int

  /// The limit for the next batch; `nil` if the app is shown everything.
  package private(set) var count: Int?

  /// Starts without a limit.
  package init(least: Int) { self.least = least }

  /// Learns from a batch: shows twice as many changes as it took to find it.
  package mutating func note(_ shown: ShownChanges) {
    switch shown.readings {
    case 0: break
    case 1: count = shown.reach.map { max(least, 2 * $0) }
    default: count = nil
    }
  }
}

extension RecordBatch {
  /// The number of changes in `scope` at the front of `list` that contains all changes of the
  /// batch.
  ///
  /// - Returns: `nil` if the batch is empty, contains other changes, or its saves or its deletions
  ///   are in another order than in the list.
  package func reach(
    in list: some Sequence<PendingChange<RecordID>>, scope: SendScope = .all
  ) -> Int? {
    let ids: Set<RecordID>? = if case .records(let ids) = scope { Set(ids) } else { nil }
    var (length, saved, deleted) = (0, 0, 0)
    for change in list {
      if saved == saves.count, deleted == deletions.count { break }
      guard ids?.contains(change.id) ?? scope.contains(change.id) else { continue }
      length += 1
      switch change.kind {
      case .save: if saved < saves.count, saves[saved].id == change.id { saved += 1 }
      case .delete:
        if deleted < deletions.count, deletions[deleted] == change.id { deleted += 1 }
      }
    }
    return count > 0 && saved == saves.count && deleted == deletions.count ? length : nil
  }
}
