extension CKSyncEngine {
  /// The statuses of an engine, one after another: see `statusUpdates`.
  ///
  /// Not in CloudKit.
  public struct StatusUpdates: AsyncSequence, Sendable {
    /// What comes.
    public typealias Element = CKSyncEngine.Status

    let driver: EngineDriver

    /// Begins with the status as it is when the first is asked for.
    public func makeAsyncIterator() -> Iterator { Iterator(driver: driver) }

    /// Gives one status after another; for one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
      private let driver: EngineDriver
      private var signals: AsyncStream<Void>.AsyncIterator
      private var last: CKSyncEngine.Status?

      init(driver: EngineDriver) {
        self.driver = driver
        signals = driver.statusSignals().makeAsyncIterator()
      }

      /// The next status that is different from the last; `nil` when the engine is gone or the
      /// task is cancelled.
      public mutating func next() async -> CKSyncEngine.Status? {
        await next(isolation: nil)
      }

      /// The next status that is different from the last; `nil` when the engine is gone or the
      /// task is cancelled.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async -> CKSyncEngine.Status? {
        while await signals.next(isolation: actor) != nil {
          let status = driver.status
          if let last, last.isSame(as: status) { continue }
          last = status
          return status
        }
        return nil
      }
    }
  }
}
