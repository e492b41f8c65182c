extension CKSyncEngine {
  /// The sequence of statuses of an engine; see `statusUpdates`.
  ///
  /// Not in CloudKit.
  public struct StatusUpdates: AsyncSequence, Sendable {
    /// The elements.
    public typealias Element = CKSyncEngine.Status

    let driver: EngineDriver

    /// Creates an iterator, which starts with the status at its first call.
    public func makeAsyncIterator() -> Iterator { Iterator(driver: driver) }

    /// The iterator, used by one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
      private let driver: EngineDriver
      private var signals: AsyncStream<Void>.AsyncIterator
      private var last: CKSyncEngine.Status?

      init(driver: EngineDriver) {
        self.driver = driver
        signals = driver.statusSignals().makeAsyncIterator()
      }

      /// The next status that differs from the last; `nil` when the engine is deallocated or the
      /// task is cancelled.
      public mutating func next() async -> CKSyncEngine.Status? {
        await next(isolation: nil)
      }

      /// The next status that differs from the last; `nil` when the engine is deallocated or the
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
