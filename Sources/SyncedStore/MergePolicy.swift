public import Foundation

/// The decision which version of an item is kept, when the item has an unsent change and the server
/// another version.
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
    /// The version on the server.
    public let server: ServerVersion
    /// The server's version that the change on this device is based on; `nil` for a new item.
    public let base: Item?
    /// Whether the server has not confirmed ``mine``; always `true` unless the policy merges always.
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
      let bytes = (JSONValue.bytes(conflict.mine), JSONValue.bytes(theirs))
      return bytes.1.lexicographicallyPrecedes(bytes.0) ? .mine : .server
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
  private let mine: [String: JSONValue]
  private let theirs: [String: JSONValue]
  private let base: [String: JSONValue]

  init(base: Item?, mine: Item, theirs: Item) {
    self.base = base.map { JSONValue.members($0) } ?? [:]
    self.mine = JSONValue.members(mine)
    self.theirs = JSONValue.members(theirs)
  }

  private var names: Set<String> { Set(mine.keys).union(theirs.keys) }

  private func isContradiction(_ name: String) -> Bool {
    mine[name] != theirs[name] && mine[name] != base[name] && theirs[name] != base[name]
  }

  var hasContradiction: Bool { names.contains(where: isContradiction) }

  /// The merged item; `nil` if its properties do not fit together.
  func item(takingMine: Bool) -> Item? {
    var merged: [String: JSONValue] = [:]
    for name in names {
      let isMine = isContradiction(name) ? takingMine : mine[name] != base[name]
      merged[name] = isMine ? mine[name] : theirs[name]
    }
    guard let data = try? JSONEncoder().encode(merged) else { return nil }
    return try? JSONDecoder().decode(Item.self, from: data)
  }
}

/// A JSON value.
private enum JSONValue: Codable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(UInt64.self) {
      self = .unsigned(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .unsigned(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  /// Compares the bytes: texts that only look the same are different.
  static func == (first: JSONValue, second: JSONValue) -> Bool { bytes(first) == bytes(second) }

  /// The JSON of a value with sorted keys; empty if it has none.
  static func bytes(_ value: some Encodable) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(value)) ?? Data()
  }

  /// The members of a value's JSON object; empty if it is none.
  static func members(_ value: some Encodable) -> [String: JSONValue] {
    (try? JSONDecoder().decode([String: JSONValue].self, from: bytes(value))) ?? [:]
  }
}
