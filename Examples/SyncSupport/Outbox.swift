public import Foundation

/// What a store still has to tell the cloud, kept in the same file as the store's items.
///
/// The sync engine has its own list of pending changes, but that list and the store's items are
/// in different files: a crash between the two writes would forget a change. With the outbox in
/// the items' file, a change and the duty to send it are written at once. At every start the
/// outbox is handed to the engine again; its list drops duplicates.
public struct Outbox: Hashable, Sendable, Codable {
  /// Items with a version the cloud has not confirmed.
  public private(set) var unsent: Set<UUID> = []

  /// Items that are gone here and still to be deleted in the cloud.
  public private(set) var deleted: Set<UUID> = []

  /// Items the cloud may know: each was received, or handed to the engine to be sent.
  public private(set) var offered: Set<UUID> = []

  /// An empty outbox.
  public init() {}

  /// How many changes wait.
  public var count: Int { unsent.count + deleted.count }

  /// The items to save, in an order every run repeats.
  public var saves: [UUID] { unsent.sorted { $0.precedes($1) } }

  /// The items to delete, in an order every run repeats.
  public var deletes: [UUID] { deleted.sorted { $0.precedes($1) } }

  /// Notes a new or changed item; `isOffered` tells whether an engine hears of it now.
  public mutating func noteChange(_ id: UUID, isOffered: Bool) {
    unsent.insert(id)
    deleted.remove(id)
    if isOffered { offered.insert(id) }
  }

  /// Notes that an item is gone here.
  ///
  /// A deletion is owed only when the cloud may know the item, so a person who never turns sync
  /// on collects nothing.
  ///
  /// - Returns: whether the cloud is to be told.
  public mutating func noteRemoval(_ id: UUID, isOffered: Bool) -> Bool {
    unsent.remove(id)
    let mayBeKnown = offered.remove(id) != nil
    guard mayBeKnown || isOffered else { return false }
    deleted.insert(id)
    return true
  }

  /// Notes that an item is gone from the cloud and here, or that it never was there.
  public mutating func forget(_ id: UUID) {
    unsent.remove(id)
    deleted.remove(id)
    offered.remove(id)
  }

  /// Notes that the cloud and the store hold the same version of an item.
  public mutating func noteSettled(_ id: UUID) {
    unsent.remove(id)
    deleted.remove(id)
    offered.insert(id)
  }

  /// Notes that everything in the outbox is handed to an engine now.
  ///
  /// - Returns: whether that is news that must be written down first.
  public mutating func noteOffered() -> Bool {
    let before = offered.count
    offered.formUnion(unsent)
    return offered.count != before
  }

  private enum CodingKeys: String, CodingKey {
    case unsent, deleted, offered
  }

  /// Reads the lists.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    unsent = try Set(container.decode([UUID].self, forKey: .unsent))
    deleted = try Set(container.decode([UUID].self, forKey: .deleted))
    offered = try Set(container.decode([UUID].self, forKey: .offered))
  }

  /// Writes the lists sorted, so that the same outbox gives the same bytes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(saves, forKey: .unsent)
    try container.encode(deletes, forKey: .deleted)
    try container.encode(offered.sorted { $0.precedes($1) }, forKey: .offered)
  }
}
