import CloudProtocol
import Records

/// The visibility of a zone's changes to the requester.
///
/// The owner and viewers of the whole zone see all changes. For a viewer of hierarchies the
/// visibility follows from two memberships, the record's in a share and the viewer's in that share,
/// and their overlap. A record without overlap is never reported, not even its deletion.
extension ZoneAccess {
  /// The change that the requester sees.
  enum VisibleChange: Equatable {
    /// No visible change: the record is not visible, or the change is known.
    case nothing
    /// The record, in the spelling of rows.
    case changed(Record)
    /// The record was deleted or is no longer visible.
    case gone
  }

  /// The change that the requester sees in `row` when a fetch continues at `place`.
  func visibleChange(of row: RecordRow, after place: FeedPosition) -> VisibleChange {
    guard let mount, !isWhole else { return unfilteredChange(of: row, after: place) }
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

  /// Where a viewer's fetch continues from `place`: at the beginning of the log if the viewer
  /// joined or left a share since the pass started, because then old records appear or disappear.
  func walk(from place: FeedPosition, latest: UInt64) -> FeedPosition {
    guard let mount, !isWhole else { return place }
    let isCurrent = mount.sharing.memberships.allSatisfy {
      $0.since <= place.start && $0.until ?? 0 <= place.start
    }
    var walk = place
    walk.start = latest
    if !isCurrent { walk.sequence = 0 }
    // A pass that is not at its start keeps its original start.
    if isCurrent && place.sequence != place.start { walk.start = place.start }
    return walk
  }

  private func unfilteredChange(of row: RecordRow, after place: FeedPosition) -> VisibleChange {
    if let record = row.record { return .changed(record) }
    if let mount {
      let joined = mount.sharing.memberships.first?.since ?? .max
      guard row.changedAt > joined else { return .nothing }
    }
    return row.changedAt > place.floor || row.device == context.device ? .gone : .nothing
  }

  /// The intervals in which the record and the viewer were in the same share.
  private func overlaps(_ row: RecordRow, _ mount: ZoneRow) -> [ShareMembership] {
    row.memberships.flatMap { record in
      mount.sharing.memberships.compactMap { visitor -> ShareMembership? in
        guard record.share == visitor.share else { return nil }
        let since = max(record.since, visitor.since)
        let until = min(record.until ?? .max, visitor.until ?? .max)
        guard since < until else { return nil }
        return ShareMembership(
          share: record.share, since: since, until: until == .max ? nil : until)
      }
    }
  }
}
