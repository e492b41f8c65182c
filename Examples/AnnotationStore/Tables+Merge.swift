import Foundation
import SyncSupport

/// What is known while records of the cloud are taken in.
struct MergeRules {
  var strategy: ConflictStrategy
  var now: Date
}

/// What one record of the cloud did here.
struct TakeResult {
  /// Whether this device has it otherwise than before.
  var isNews = false
  /// Whether two edits contradicted each other.
  var isConflict = false
}

extension Tables {
  /// Takes in the version of an item that the cloud has.
  mutating func take(
    _ theirs: CloudCopy, _ id: UUID, _ kind: ItemKind, owner: String?, _ rules: MergeRules
  ) -> TakeResult {
    guard var item = items[id] else {
      put(StoredItem(id: id, kind: kind, owner: owner, cloud: theirs), waits: nil)
      return TakeResult(isNews: true)
    }
    // A name that is taken stays with whoever had it first: nobody's share replaces what is mine.
    guard item.owner == owner, item.kind == kind else { return TakeResult() }
    if let tag = theirs.tag, item.cloud?.tag == tag { return TakeResult() }
    guard !item.isPurged, let mine = item.mine else {
      let isNews = item.cloud?.fields != theirs.fields
      item.cloud = theirs
      item.offered = nil
      item.refusal = nil
      if item.isPurged { replace(item) } else { put(item, waits: nil) }
      return TakeResult(isNews: isNews && !item.isPurged)
    }
    let ancestor = item.ancestor(of: theirs.fields)
    item.offered = nil
    let outcome = Self.merge(kind, ancestor, mine, theirs.fields, rules.strategy)
    let isNews = outcome.fields != mine
    item.cloud = theirs
    let open = outcome.open
    if !open.isEmpty {
      let wasOpen = item.dispute != nil
      item.dispute = Dispute(
        ancestor: Self.ancestor(ancestor, theirs.fields, open), fields: open,
        since: item.dispute?.since ?? rules.now)
      item.mine = outcome.fields
      put(item, waits: nil)
      return TakeResult(isNews: isNews, isConflict: !wasOpen)
    }
    item.dispute = nil
    if Self.saysTheSame(outcome.fields, theirs.fields) {
      item.mine = nil
      item.refusal = nil
      put(item, waits: nil)
    } else {
      item.mine = outcome.fields
      put(item, waits: .save)
    }
    return TakeResult(isNews: isNews, isConflict: !outcome.conflicts.isEmpty)
  }

  /// Takes in that the cloud has an item no more.
  ///
  /// - Parameter isTakenAway: whether all of it goes whatever this device did with it, because it
  ///   was somebody else's.
  mutating func takeRemoval(_ id: UUID, owner: String?, _ rules: MergeRules) -> TakeResult {
    guard var item = items[id], item.owner == owner else { return TakeResult() }
    guard owner == nil, !item.isPurged, item.cloud != nil, let mine = item.mine else {
      // What was made here and never sent is not what was removed there.
      if item.cloud == nil, owner == nil { return TakeResult() }
      removeTree(id)
      return TakeResult(isNews: true)
    }
    item.offered = nil
    // The removal carries no date, so it is no later edit; a person's unsent words stay.
    let question = ConflictStrategy.Question(
      field: "isDeleted", mineTime: mine.date("updatedAt")?.timeIntervalSinceReferenceDate,
      theirsTime: nil)
    switch rules.strategy.settle(question) {
    case .theirs: removeTree(id)
    case .mine:
      item.cloud = nil
      item.dispute = nil
      put(item, waits: .save)
    case .askPerson:
      item.dispute = Dispute(
        ancestor: item.cloud?.fields, fields: [], since: rules.now, isGoneThere: true)
      item.cloud = nil
      put(item, waits: nil)
    }
    return TakeResult(isNews: true, isConflict: true)
  }

  /// Takes an item out, and what can't be without it.
  ///
  /// A comment says nothing without its annotation. An annotation of one's own stays, without a
  /// layer; of what somebody else took away nothing stays, not even what was never sent.
  mutating func removeTree(_ id: UUID) {
    let owner = items[id]?.owner
    for child in childIDs(of: id) {
      guard let item = items[child], item.owner == owner, owner != nil || item.kind == .comment
      else { continue }
      removeTree(child)
    }
    remove(id)
  }

  /// Three versions of one item, brought together.
  static func merge(
    _ kind: ItemKind, _ ancestor: Fields?, _ mine: Fields, _ theirs: Fields,
    _ strategy: ConflictStrategy
  ) -> ThreeWayMerge<FieldValue>.Outcome {
    typealias Version = ThreeWayMerge<FieldValue>.Version
    let merge = ThreeWayMerge<FieldValue>(
      strategy: strategy, groups: kind.groups, followers: ItemKind.followers,
      text: { $0?.canonicalText ?? "" })
    func version(_ fields: Fields) -> Version {
      Version(fields, time: fields.date("updatedAt")?.timeIntervalSinceReferenceDate)
    }
    return merge.merge(
      ancestor: ancestor.map(version), mine: version(mine), theirs: version(theirs))
  }

  /// Whether two versions differ in nothing but the date of the edit.
  static func saysTheSame(_ first: Fields, _ second: Fields) -> Bool {
    first.filter { !ItemKind.followers.contains($0.key) }
      == second.filter { !ItemKind.followers.contains($0.key) }
  }

  /// The ancestor for the next version that comes while a person thinks: what was settled counts as
  /// old already.
  private static func ancestor(
    _ ancestor: Fields?, _ theirs: Fields, _ open: [String]
  ) -> Fields? {
    guard let ancestor else { return nil }
    var next = theirs
    for field in open { next[field] = ancestor[field] }
    return next
  }
}
