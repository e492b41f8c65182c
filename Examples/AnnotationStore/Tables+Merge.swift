import Foundation

/// The effect of a version from the server.
struct TakeResult {
  /// Whether the item changed here.
  var isNews = false
  /// Whether two edits contradicted each other.
  var isConflict = false
}

extension Tables {
  /// Takes over the server's version of an item.
  mutating func take(_ arrival: StoredItem, at date: Date) -> TakeResult {
    guard var item = items[arrival.id] else {
      replace(arrival)
      return TakeResult(isNews: true)
    }
    // A share of another user never replaces an item of the same name.
    guard item.owner == arrival.owner, item.kind == arrival.kind, let theirs = arrival.cloud else {
      return TakeResult()
    }
    if let tag = theirs.tag, item.cloud?.tag == tag {
      // The share of a record changes without a new tag.
      item.cloud?.share = theirs.share
      replace(item)
      return TakeResult()
    }
    let isChanged = item.cloud?.fields != theirs.fields
    let ancestor = item.ancestor(of: theirs.fields)
    item.cloud = theirs
    item.offered = nil
    guard !item.isPurged else {
      item.refusal = nil
      replace(item)
      return TakeResult()
    }
    guard let mine = item.mine else {
      complete(&item)
      return TakeResult(isNews: isChanged)
    }
    let merge = ThreeWayMerge(
      ancestor: ancestor, mine: mine, theirs: theirs.fields, settings.strategy,
      groups: item.kind.groups)
    var result = TakeResult(isNews: merge.fields != mine, isConflict: !merge.conflicts.isEmpty)
    item.mine = merge.fields
    guard merge.open.isEmpty else {
      result.isConflict = item.dispute == nil
      // For the next version that arrives before the decision, the other fields are merged.
      let next = ancestor.map { ancestor in
        merge.open.reduce(into: theirs.fields) { $0[$1] = ancestor[$1] }
      }
      item.dispute = Dispute(
        ancestor: next, fields: merge.open, since: item.dispute?.since ?? date)
      put(item, waits: nil)
      return result
    }
    item.dispute = nil
    if merge.fields.saysTheSame(as: theirs.fields) {
      complete(&item)
    } else {
      put(item, waits: .save)
    }
    return result
  }

  /// Stores an item of which the server has this device's version.
  private mutating func complete(_ item: inout StoredItem) {
    item.mine = nil
    item.refusal = nil
    put(item, waits: nil)
  }

  /// Takes over that the server does not have an item any more.
  mutating func takeRemoval(_ id: UUID, owner: String?, at date: Date) -> TakeResult {
    guard var item = items[id], item.owner == owner else { return TakeResult() }
    // An item that was never sent is not the one that was removed.
    if !item.mayBeOnServer, owner == nil { return TakeResult() }
    guard owner == nil, !item.isPurged, let mine = item.mine else {
      removeTree(id)
      return TakeResult(isNews: true)
    }
    // The removal has no date, so it is not the later edit.
    let decision = settings.strategy.settle(
      ConflictStrategy.Question(field: "isDeleted", mineTime: mine.updatedAt))
    let known = item.cloud?.fields
    item.cloud = nil
    item.offered = nil
    switch decision {
    case .theirs: removeTree(id)
    case .mine:
      item.dispute = nil
      put(item, waits: .save)
    case .askPerson:
      item.dispute = Dispute(ancestor: known, fields: [], since: date, isGoneThere: true)
      put(item, waits: nil)
    }
    return TakeResult(isNews: true, isConflict: true)
  }

  /// Removes an item and those that can't be without it.
  ///
  /// A comment needs its annotation. One's own annotation stays, without a layer; of what another
  /// user owns nothing stays, not even what was never sent.
  /// - Parameter fromServer: whether the server has not removed them yet.
  mutating func removeTree(_ id: UUID, fromServer: Bool = false) {
    let owner = items[id]?.owner
    for child in childIDs(of: id) {
      guard let item = items[child], item.owner == owner, owner != nil || item.kind == .comment
      else { continue }
      removeTree(child, fromServer: fromServer)
    }
    if fromServer { purge(id) } else { remove(id) }
  }

  /// Removes an item permanently, from the server, too, if that may have it.
  mutating func purge(_ id: UUID) {
    guard var item = items[id], item.mayBeOnServer else { return remove(id) }
    item.dispute = nil
    item.refusal = nil
    putEdited(item, .delete)
  }
}
