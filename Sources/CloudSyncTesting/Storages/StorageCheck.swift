import CloudMachine

/// One rule that every storage must keep; `StorageConformance` checks it.
public struct StorageCheck: Sendable, CustomStringConvertible {
  /// What a check does besides using one storage.
  enum Requirement: Sendable {
    /// Nothing.
    case one
    /// It closes the storage and opens the data again.
    case reopening
    /// It uses two storages on the same data.
    case sharing
  }

  /// The rule.
  public let name: String
  let requirement: Requirement
  /// The result that the rule requires.
  let expected: String
  /// Uses the storage, and describes what it found.
  let body: @Sendable (StorageTrial) throws -> String

  /// The rule.
  public var description: String { name }

  init(
    _ name: String, _ expected: String, _ body: @escaping @Sendable (any CloudStorage) throws -> Any
  ) {
    self.init(name, .one, expected) { try "\(body($0.storage))" }
  }

  init(
    _ name: String, _ requirement: Requirement, _ expected: String,
    _ body: @escaping @Sendable (StorageTrial) throws -> String
  ) {
    self.name = name
    self.requirement = requirement
    self.expected = expected
    self.body = body
  }

  /// All checks, from single rows to transactions, crashes and sharing.
  public static let all: [StorageCheck] =
    StorageSample.rowChecks + StorageSample.recordChecks + StorageSample.fileChecks
    + StorageSample.archiveChecks + StorageSample.transactionChecks + StorageSample.crashChecks
    + StorageSample.sharingChecks
}

/// The data of one check, and the storage that is open on them.
final class StorageTrial {
  private let open: (UInt64) throws -> any CloudStorage
  /// The storage, which is replaced when it is opened again.
  private(set) var storage: any CloudStorage
  private var others: [any CloudStorage] = []
  /// Whether the storage is open: the suite closes each once.
  private var isOpen = true

  /// The identity of the data.
  static let identity: UInt64 = 1 << 63 + 9

  init(_ open: @escaping (UInt64) throws -> any CloudStorage) throws {
    self.open = open
    storage = try open(StorageTrial.identity)
  }

  /// Closes the storage and opens the data again; the identity is for new data only.
  func reopen() throws {
    isOpen = false
    try storage.close()
    storage = try open(1)
    isOpen = true
  }

  /// Opens a second storage on the same data.
  func openAnother() throws -> any CloudStorage {
    let other = try open(2)
    others.append(other)
    return other
  }

  func close() throws {
    for other in others { try other.close() }
    if isOpen { try storage.close() }
  }
}
