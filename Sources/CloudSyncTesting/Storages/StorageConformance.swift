public import CloudMachine

/// Checks that a storage keeps the rules of `CloudStorage`: rows, order, limits, transactions and
/// crash points.
///
/// ```swift
/// @Test(arguments: StorageCheck.all)
/// func theStorageKeepsTheRule(_ check: StorageCheck) throws {
///   let suite = StorageConformance("memory", lifetime: .storage) {
///     { identity in MemoryStorage(identity: identity) }
///   }
///   try suite.run(check)
/// }
/// ```
///
/// In place of `MemoryStorage` create your own storage.
///
/// Each check uses new data, and calls the storage as the server does:
///
/// - It makes one call at a time to one storage, and none after `close()`.
/// - It reads within and outside of transactions, and commits within and outside of them, also
///   several times in one; a read after a commit sees the changes.
/// - It throws from transactions, also from nested ones, at every step: all their changes are
///   undone. When a nested transaction throws, the outer one is undone too, and throws even if its
///   body does not.
/// - It runs a transaction that throws `TransactionConflict` again, ten times at most.
/// - It foresees rows that are not read, and reads rows that were not foreseen.
/// - If the data outlive the storage, it closes the storage and opens the data again.
/// - If data are shared, it uses two storages on the same data in turn. While a transaction of one
///   runs, the other reads outside of transactions, and must return without waiting.
///
/// The suite can't end a process or cut a connection; test that in the storage's own way.
public struct StorageConformance: Sendable, CustomStringConvertible {
  /// Opens the data of one check.
  ///
  /// The argument is the identity of new data; existing data keep theirs.
  public typealias Opener = (_ identity: UInt64) throws -> any CloudStorage

  /// How long the data of a storage last, and who can use them.
  public enum Lifetime: Sendable {
    /// They end with the storage. The opener is called once for each check.
    case storage
    /// They outlive the storage, and one storage at a time uses them.
    case lasting
    /// They outlive the storage, and several storages may use them at once.
    case shared
  }

  /// The name of the storage in failures.
  public let name: String
  /// How long the data last.
  public let lifetime: Lifetime
  private let makeData: @Sendable () throws -> Opener

  /// Creates a suite for a storage.
  ///
  /// - Parameters:
  ///   - name: the name of the storage in failures.
  ///   - lifetime: how long the data last; it decides which checks are run.
  ///   - makeData: makes a place for new data, and returns what opens them. The place can be
  ///     removed when the opener is released.
  public init(
    _ name: String, lifetime: Lifetime = .lasting,
    makeData: @escaping @Sendable () throws -> Opener
  ) {
    self.name = name
    self.lifetime = lifetime
    self.makeData = makeData
  }

  /// The checks that the lifetime of the data allows.
  public var checks: [StorageCheck] { StorageCheck.all.filter(applies) }

  private func applies(_ check: StorageCheck) -> Bool {
    switch check.requirement {
    case .one: true
    case .reopening: lifetime != .storage
    case .sharing: lifetime == .shared
    }
  }

  /// Runs one check; one that the lifetime of the data does not allow passes.
  ///
  /// - Throws: `ConformanceFailure` if the storage does not keep the rule.
  public func run(_ check: StorageCheck) throws {
    try run(check) { _ in }
  }

  /// Runs one check, and calls `inspect` before the storage is closed.
  package func run(
    _ check: StorageCheck, beforeClosing inspect: (any CloudStorage) throws -> Void
  ) throws {
    guard applies(check) else { return }
    func failure(_ reason: String) -> ConformanceFailure {
      ConformanceFailure(description: "\(name): \(check.name): \(reason)")
    }
    let open: Opener
    do { open = try makeData() } catch { throw failure("no data could be made: \(error)") }
    let found: String
    do {
      let trial = try StorageTrial(open)
      do {
        found = try check.body(trial)
        try inspect(trial.storage)
      } catch {
        // The first error is the one to report.
        try? trial.close()
        throw error
      }
      try trial.close()
    } catch {
      throw failure("the storage threw \(error)")
    }
    guard found == check.expected else {
      throw failure("expected \(check.expected), found \(found)")
    }
  }

  /// Runs all checks.
  ///
  /// - Throws: `ConformanceFailure` with one line for each rule that the storage does not keep.
  public func run() throws {
    let failures = checks.compactMap { check -> String? in
      do { try run(check) } catch { return "\(error)" }
      return nil
    }
    guard failures.isEmpty else {
      throw ConformanceFailure(description: failures.joined(separator: "\n"))
    }
  }

  /// The name of the storage.
  public var description: String { name }
}
