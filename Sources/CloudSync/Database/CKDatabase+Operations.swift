import Foundation

extension CKDatabase {
  /// Runs an operation on this database, as soon as its dependencies have finished.
  public func add(_ operation: CKDatabaseOperation) {
    operation.database = self
    operation.adopt(defaults)
    operationQueue.addOperation(operation)
  }

  /// Calls `body` with a copy of this database whose calls and operations use other default
  /// settings.
  ///
  /// - Parameters:
  ///   - configuration: The default settings of calls and operations.
  ///   - group: Their operation group, whose settings have lower priority than `configuration`.
  ///   - body: The calls, with the configured database.
  @discardableResult
  public func configuredWith<R>(
    configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
    body: (CKDatabase) throws -> R
  ) rethrows -> R {
    try body(configured(OperationDefaults(configuration: configuration, group: group)))
  }

  /// Calls `body` with a copy of this database with other default settings; the asynchronous form.
  @discardableResult
  nonisolated(nonsending) public func configuredWith<R>(
    configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
    body: (CKDatabase) async throws -> R
  ) async rethrows -> R {
    try await body(configured(OperationDefaults(configuration: configuration, group: group)))
  }

  /// The quality of service of calls with completion handlers.
  var urgency: QualityOfService {
    guard defaults.configuration != nil || defaults.group != nil else { return .userInitiated }
    return defaults.resolved.qualityOfService
  }

  private func configured(_ defaults: OperationDefaults) -> CKDatabase {
    CKDatabase(scope: databaseScope, connection: connection, defaults: defaults)
  }
}
