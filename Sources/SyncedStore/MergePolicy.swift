import DurableFiles
public import Foundation

/// The decision which version of an item is kept, when the item has an unsent change and the server
/// another version.
///
/// It is not asked about an item that was deleted on this device: the deletion is always sent.
///
/// A policy must come to the same result on every device, whichever version is the device's own, or
/// devices never agree. All policies here do.
public struct MergePolicy<Item: SyncedItem>: Sendable {
  /// The server's version of an item.
  public enum ServerVersion: Sendable {
    /// Another device saved this version.
    case item(Item)
    /// Another device deleted the item.
    case deleted
    /// A newer version of the app saved a version that this one can't read.
    case unreadable
  }

  /// The versions to decide about.
  public struct Conflict: Sendable {
    /// The version on this device.
    public let mine: Item
    /// The server's version: an item, a deletion, or a version that this app can't read.
    public let server: ServerVersion
    /// The server's version that the change on this device is based on; `nil` for a new item.
    public let base: Item?
    /// Whether the server has not confirmed ``mine``; always `true` unless the policy merges
    /// always.
    public let isUnsent: Bool

    /// Creates a conflict, for tests of a policy.
    public init(mine: Item, server: ServerVersion, base: Item? = nil, isUnsent: Bool = true) {
      self.mine = mine
      self.server = server
      self.base = base
      self.isUnsent = isUnsent
    }
  }

  /// The version to keep.
  public enum Resolution: Sendable {
    /// The version on this device, which is sent again; after a deletion it is a new record.
    case mine
    /// The version on the server; the item is removed if it was deleted, and hidden if it can't be
    /// read.
    case server
    /// A new version, which is sent if the server's is different.
    case merged(Item)
  }

  /// Decides about a conflict.
  public let resolve: @Sendable (Conflict) -> Resolution

  /// Whether the policy is asked about every version from the server.
  public let mergesAlways: Bool

  /// Creates a policy from a function.
  ///
  /// - Parameters:
  ///   - mergesAlways: whether the policy is also asked when the item has no unsent change. With
  ///     `false` the server's version replaces such an item.
  ///   - resolve: decides; it may be called on any thread and has no side effects.
  public init(
    mergesAlways: Bool = false, _ resolve: @escaping @Sendable (Conflict) -> Resolution
  ) {
    self.mergesAlways = mergesAlways
    self.resolve = resolve
  }
}

extension MergePolicy {
  /// The server's version is kept, and its deletions.
  public static var serverWins: MergePolicy { MergePolicy { _ in .server } }

  /// The version on this device is kept.
  public static var clientWins: MergePolicy { MergePolicy { _ in .mine } }

  /// The version with the later date is kept, and an edit against a deletion.
  ///
  /// At equal dates the version with the greater JSON is kept, which is the same on all devices.
  ///
  /// - Parameter date: the date of an item's last edit, which every edit must move forward.
  public static func laterWins(_ date: @escaping @Sendable (Item) -> Date) -> MergePolicy {
    MergePolicy { conflict in
      guard case .item(let theirs) = conflict.server else { return .mine }
      let (mine, other) = (date(conflict.mine), date(theirs))
      if mine != other { return mine > other ? .mine : .server }
      return theirs.json.lexicographicallyPrecedes(conflict.mine.json) ? .mine : .server
    }
  }

  /// Each property of the item is merged alone: one that only one side changed has that side's
  /// value.
  ///
  /// The properties are the members of the item's JSON. Without a base, for two new items of the
  /// same name, all different properties are contradictions.
  ///
  /// - Parameter policy: decides about contradictions, deletions and unreadable versions. For a
  ///   contradiction it is given the whole items; its merged version stands for all properties.
  public static func perProperty(otherwise policy: MergePolicy) -> MergePolicy {
    MergePolicy(mergesAlways: policy.mergesAlways) { conflict in
      guard case .item(let theirs) = conflict.server else { return policy.resolve(conflict) }
      let merge = PropertyMerge(base: conflict.base, mine: conflict.mine, theirs: theirs)
      guard merge.hasContradiction else {
        return merge.item(takingMine: true).map { .merged($0) } ?? policy.resolve(conflict)
      }
      switch policy.resolve(conflict) {
      case .mine: return merge.item(takingMine: true).map { .merged($0) } ?? .mine
      case .server: return merge.item(takingMine: false).map { .merged($0) } ?? .server
      case .merged(let item): return .merged(item)
      }
    }
  }

  /// A function merges both versions and their base; an edit is kept against a deletion.
  ///
  /// - Parameter merge: returns the merged version. `base` is the server's version that the change
  ///   on this device is based on, or `nil`.
  public static func threeWay(
    _ merge: @escaping @Sendable (_ base: Item?, _ mine: Item, _ theirs: Item) -> Item
  ) -> MergePolicy {
    MergePolicy { conflict in
      guard case .item(let theirs) = conflict.server else { return .mine }
      return .merged(merge(conflict.base, conflict.mine, theirs))
    }
  }
}

/// The three-way merge of the members of items' JSON.
private struct PropertyMerge<Item: SyncedItem> {
  private let mine: [String: Any]
  private let theirs: [String: Any]
  private let base: [String: Any]

  init(base: Item?, mine: Item, theirs: Item) {
    self.base = base.map(Self.members) ?? [:]
    self.mine = Self.members(mine)
    self.theirs = Self.members(theirs)
  }

  private static func members(_ item: Item) -> [String: Any] {
    (try? JSONSerialization.jsonObject(with: item.json)) as? [String: Any] ?? [:]
  }

  private var names: Set<String> { Set(mine.keys).union(theirs.keys) }

  private func isContradiction(_ name: String) -> Bool {
    !isEqual(name, mine, theirs) && !isEqual(name, mine, base) && !isEqual(name, theirs, base)
  }

  /// Compares the bytes: texts that only look the same are different.
  private func isEqual(_ name: String, _ first: [String: Any], _ second: [String: Any]) -> Bool {
    bytes(first[name]) == bytes(second[name])
  }

  private func bytes(_ value: Any?) -> Data? {
    value.flatMap { try? JSONSerialization.data(withJSONObject: [$0], options: .sortedKeys) }
  }

  var hasContradiction: Bool { names.contains(where: isContradiction) }

  /// The merged item; `nil` if its properties do not fit together.
  func item(takingMine: Bool) -> Item? {
    var merged: [String: Any] = [:]
    for name in names {
      let isMine = isContradiction(name) ? takingMine : !isEqual(name, mine, base)
      merged[name] = isMine ? mine[name] : theirs[name]
    }
    guard let data = try? JSONSerialization.data(withJSONObject: merged) else { return nil }
    return try? JSONDecoder.canonical().decode(Item.self, from: data)
  }
}

extension SyncedItem {
  /// The item's JSON, the same for equal items.
  fileprivate var json: Data { (try? JSONEncoder.canonical().encode(self)) ?? Data() }
}
