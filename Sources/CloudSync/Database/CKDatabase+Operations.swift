import Foundation

extension CKDatabase {
  /// Runs an operation on this database; it starts as soon as its dependencies are done.
  public func add(_ operation: CKDatabaseOperation) {
    operation.database = self
    operation.adopt(defaults)
    operationQueue.addOperation(operation)
  }

  /// Calls `body` with this database under other settings: what is asked of that one runs with
  /// them, unless it says otherwise itself.
  ///
  /// - Parameters:
  ///   - configuration: How calls and operations run.
  ///   - group: What they belong to; its own settings come after `configuration`.
  @discardableResult
  public func configuredWith<R>(
    configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
    body: (CKDatabase) throws -> R
  ) rethrows -> R {
    try body(configured(OperationDefaults(configuration: configuration, group: group)))
  }

  /// Calls `body` with this database under other settings, as the form that does not wait.
  @discardableResult
  nonisolated(nonsending) public func configuredWith<R>(
    configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
    body: (CKDatabase) async throws -> R
  ) async rethrows -> R {
    try await body(configured(OperationDefaults(configuration: configuration, group: group)))
  }

  /// How urgent calls with completion handlers are.
  var urgency: QualityOfService {
    guard defaults.configuration != nil || defaults.group != nil else { return .userInitiated }
    return defaults.resolved.qualityOfService
  }

  private func configured(_ defaults: OperationDefaults) -> CKDatabase {
    CKDatabase(scope: databaseScope, connection: connection, defaults: defaults)
  }
}
