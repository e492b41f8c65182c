import CloudProtocol
import Records

/// What a row of a zone's log means to the asker.
///
/// The owner and whoever sees the whole zone read the log as it is. For a visitor of hierarchies
/// it follows from three stays: the record's in a share, the visitor's in that share, and where
/// the two overlap. What never overlapped is never told, not even that it went.
extension ZoneAccess {
  /// What there is to tell.
  enum News: Equatable {
    /// Nothing: it is not seen, or was known.
    case nothing
    /// The record, as the rows spell it.
    case changed(Record)
    /// It went, or out of sight.
    case gone
  }

  /// What the asker learns from `row` on a walk that goes on at `place`.
  func news(of row: RecordRow, after place: FeedPosition) -> News {
    guard let mount, !isWhole else { return plainNews(of: row, after: place) }
    if let record = row.record, shows(row) {
      let seenSince = overlaps(row, mount).filter { $0.until == nil }.map(\.since).max() ?? 0
      return max(row.changedAt, seenSince) > place.known ? .changed(record) : .nothing
    }
    let isOwnDeletion = row.record == nil && row.device == context.device
    let wasSeen = overlaps(row, mount).contains { overlap in
      guard let until = overlap.until else { return false }
      return until > place.floor || isOwnDeletion
    }
    return wasSeen ? .gone : .nothing
  }

  /// Where a visitor's fetch goes on from `place`: from the beginning of the log when the visitor
  /// came into a share or out of one since the walk began, for then old records come or go.
  func walk(from place: FeedPosition, latest: UInt64) -> FeedPosition {
    guard let mount, !isWhole else { return place }
    let isCurrent = mount.sharing.stays.allSatisfy {
      $0.since <= place.start && $0.until ?? 0 <= place.start
    }
    var walk = place
    walk.start = latest
    if !isCurrent { walk.sequence = 0 }
    // A walk that is not at its beginning keeps asking whether anything happened since then.
    if isCurrent && place.sequence != place.start { walk.start = place.start }
    return walk
  }

  private func plainNews(of row: RecordRow, after place: FeedPosition) -> News {
    if let record = row.record { return .changed(record) }
    if let mount {
      let joined = mount.sharing.stays.first?.since ?? .max
      guard row.changedAt > joined else { return .nothing }
    }
    return row.changedAt > place.floor || row.device == context.device ? .gone : .nothing
  }

  /// When the record and the visitor were in the same share.
  private func overlaps(_ row: RecordRow, _ mount: ZoneRow) -> [ShareStay] {
    row.stays.flatMap { record in
      mount.sharing.stays.compactMap { visitor -> ShareStay? in
        guard record.share == visitor.share else { return nil }
        let since = max(record.since, visitor.since)
        let until = min(record.until ?? .max, visitor.until ?? .max)
        guard since < until else { return nil }
        return ShareStay(share: record.share, since: since, until: until == .max ? nil : until)
      }
    }
  }
}
