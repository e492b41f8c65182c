import Foundation

extension CKContainer {
  /// Runs an operation in this container, as soon as its dependencies have finished.
  ///
  /// A database operation without a database uses the private one.
  public func add(_ operation: CKOperation) {
    operation.configuration.container = self
    operation.adopt(defaults)
    operationQueue.addOperation(operation)
  }

  /// Calls `body` with a copy of this container whose calls and operations use other default
  /// settings.
  ///
  /// - Parameters:
  ///   - configuration: The default settings of calls and operations.
  ///   - group: Their operation group, whose settings have lower priority than `configuration`.
  ///   - body: The calls, with the configured container.
  @discardableResult
  public func configuredWith<R>(
    configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
    body: (CKContainer) throws -> R
  ) rethrows -> R {
    try body(configured(OperationDefaults(configuration: configuration, group: group)))
  }

  /// Calls `body` with a copy of this container whose calls and operations use other default
  /// settings; the asynchronous form.
  @discardableResult
  nonisolated(nonsending) public func configuredWith<R>(
    configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
    body: (CKContainer) async throws -> R
  ) async rethrows -> R {
    try await body(configured(OperationDefaults(configuration: configuration, group: group)))
  }

  private func configured(_ defaults: OperationDefaults) -> CKContainer {
    CKContainer(connection: connection, defaults: defaults)
  }

  /// Returns the IDs of the running long-lived operations of this container, oldest first.
  public func allLongLivedOperationIDs() async throws -> [CKOperation.ID] {
    LongLivedOperations.operations(of: connection.container).map(\.operationID)
  }

  /// The long-lived operation `operationID`; `nil` when it is not running.
  public func longLivedOperation(
    for operationID: CKOperation.ID
  ) async throws -> CKOperation? {
    LongLivedOperations.operations(of: connection.container)
      .first { $0.operationID == operationID }
  }

  /// Calls `completionHandler` with the result of `allLongLivedOperationIDs()`.
  @preconcurrency public func fetchAllLongLivedOperationIDs(
    completionHandler: @escaping @Sendable ([CKOperation.ID]?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler) { try await self.allLongLivedOperationIDs() }
  }

  /// Calls `completionHandler` with the result of `longLivedOperation(for:)`.
  @preconcurrency public func fetchLongLivedOperation(
    withID operationID: CKOperation.ID,
    completionHandler: @escaping @Sendable (CKOperation?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, onFailure: nil) {
      try await self.longLivedOperation(for: operationID)
    }
  }
}
