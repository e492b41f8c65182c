import CloudProtocol
import Records

extension WorldLayout {
  /// The same layout as others see it whom `owner` shares it with.
  func visited(owner: UserID) -> WorldLayout {
    var layout = WorldLayout(
      zoneCount: zones.count, recordsPerZone: recordsPerZone, users: users, owner: owner)
    layout.treeSizes = treeSizes
    return layout
  }

  /// The number of records of a zone in a tree that is shared as a hierarchy; 0 for none.
  func treeSize(of zone: Int) -> Int { treeSizes.isEmpty ? 0 : treeSizes[zone] }

  /// The place above `place` in its zone's tree; `nil` for the root and for what is in no tree.
  func parent(of place: Int) -> Int? {
    let zone = zone(of: place)
    let first = places(of: zone).lowerBound
    let index = place - first
    guard index > 0, index < treeSize(of: zone) else { return nil }
    return first + (index - 1) / 2
  }

  /// The change of the parent in a save of the record at `place`.
  func parentChange(of place: Int) -> RecordSave.ParentChange {
    parent(of: place).map { .set(records[$0]) } ?? .keep
  }

  /// The places that a share in `zone` shows: the tree, or everything where there is none.
  func sharedPlaces(of zone: Int) -> Range<Int> {
    let places = places(of: zone)
    let size = treeSize(of: zone)
    return size == 0 ? places : places.lowerBound..<places.lowerBound + size
  }

  /// The name of the zone's share.
  func share(of zone: Int) -> RecordID {
    RecordID(
      name: treeSize(of: zone) == 0 ? ShareDetails.zoneWideName : "Share-tree", zone: zones[zone])
  }
}
