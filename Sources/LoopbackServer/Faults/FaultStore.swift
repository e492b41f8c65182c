import CloudProtocol
import Synchronization

/// Keeps the faults of a server: in memory, or together with other servers on the same data.
///
/// Shared faults are a row of the storage. Each server has a copy, which it reads again at each
/// check for changes by others. A request or a push that no fault of the copy is for costs nothing.
/// For others the row decides, under its lock, so that each fault applies as often as it should at
/// all servers together. No other lock is taken under the lock of the copy.
final class FaultStore: Sendable {
  private typealias Change = @Sendable (inout ServerFaults) -> Void

  private struct Contents {
    var faults = ServerFaults()
    var isShared = false
    var isClosed = false
    /// Changes that could not be stored yet.
    var waiting: [Change] = []
    /// The limits, and the number of the last order, that this server has carried out.
    var applied = Applied()
  }

  private struct Applied {
    var limits: ServerLimits?
    var lastOrder = 0
  }

  /// The changes that a server must carry out.
  struct News {
    /// The new limits, or `nil` for those with which the server was started; `nil` if unchanged.
    var limits: ServerLimits??
    var orders: ArraySlice<FaultOrder>
  }

  private let executor: MachineExecutor
  private let contents = Mutex(Contents())

  init(executor: MachineExecutor) { self.executor = executor }

  /// The faults, as this server knows them.
  var faults: ServerFaults { contents.withLock { $0.faults } }

  /// Whether other servers share the faults.
  var isShared: Bool { contents.withLock { $0.isShared } }

  /// Reads the faults of a storage that servers share; earlier orders are not carried out here.
  func open() throws(CloudError) {
    guard let bytes = try executor.sharedState() else { return }
    let faults = (try? ServerFaults(bytes: bytes)) ?? ServerFaults()
    contents.withLock { contents in
      contents.isShared = true
      contents.faults = faults
      contents.applied.lastOrder = faults.lastOrder
    }
  }

  /// Ends all faults at this server.
  func close() {
    contents.withLock { contents in
      contents.isClosed = true
      contents.isShared = false
      contents.faults = ServerFaults()
    }
  }

  /// Changes the faults of all servers.
  ///
  /// A change that cannot be stored holds at this server, and is stored at a later `synchronize()`;
  /// one whose commit was lost may be made twice.
  func change<Value: Sendable>(
    _ body: @escaping @Sendable (inout ServerFaults) -> Value
  ) -> Value {
    if isShared {
      if let value = try? update(body) {
        executor.notifyOfSharedState()
        return value
      }
      contents.withLock { $0.waiting.append { _ = body(&$0) } }
    }
    return contents.withLock { body(&$0.faults) }
  }

  /// Reads the faults again if other servers share them, and stores the changes that wait.
  func synchronize() throws(CloudError) {
    guard isShared else { return }
    guard contents.withLock({ $0.waiting.isEmpty }) else {
      try update { _ in }
      return executor.notifyOfSharedState()
    }
    guard let bytes = try executor.sharedState() else { return }
    do { learn(try ServerFaults(bytes: bytes)) } catch {
      throw CloudError(.internalError, "the faults in the database: \(error.description)")
    }
  }

  /// The changes since the last call, which the server must carry out.
  func takeNews() -> News {
    contents.withLock { contents in
      let faults = contents.faults
      let news = News(
        limits: contents.applied.limits == faults.limits ? nil : .some(faults.limits),
        orders: faults.orders(after: contents.applied.lastOrder))
      contents.applied = Applied(limits: faults.limits, lastOrder: faults.lastOrder)
      return news
    }
  }

  /// Changes the row, after the changes that wait.
  @discardableResult
  private func update<Value: Sendable>(
    _ body: @Sendable (inout ServerFaults) -> Value
  ) throws(CloudError) -> Value {
    // Taken out, so that no other call stores them, too.
    let waiting = contents.withLock { contents in
      defer { contents.waiting = [] }
      return contents.waiting
    }
    do throws(CloudError) {
      let (value, faults) = try executor.updateSharedState { bytes in
        let stored = try ServerFaults(bytes: bytes)
        var faults = stored
        for change in waiting { change(&faults) }
        let value = body(&faults)
        if faults != stored {
          faults.version += 1
          bytes = faults.bytes
        }
        return (value, faults)
      }
      learn(faults)
      return value
    } catch {
      contents.withLock { $0.waiting.insert(contentsOf: waiting, at: 0) }
      throw error
    }
  }

  /// Takes over what was read or written, unless something later is known.
  private func learn(_ faults: ServerFaults) {
    contents.withLock { contents in
      guard !contents.isClosed else { return }
      if faults.version >= contents.faults.version { contents.faults = faults }
    }
  }

  // MARK: Requests and pushes

  /// Takes the faults that apply to a request, unless other servers share them.
  ///
  /// - Returns: Whether `takeShared(_:)` must be called, because they do.
  func take(_ faults: inout RequestFaults) -> Bool {
    contents.withLock { contents in
      guard contents.faults.mayApply(to: faults.entry) else { return false }
      if !contents.isShared { contents.faults.take(&faults) }
      return contents.isShared
    }
  }

  /// Takes the faults that apply to a request and that other servers share.
  func takeShared(_ faults: RequestFaults) async throws(CloudError) -> RequestFaults {
    try await executor.storages.run { () throws(CloudError) in
      try self.update { shared in
        var faults = faults
        shared.take(&faults)
        return faults
      }
    }
  }

  /// The fate of a push to a device; one that the row cannot be asked about is delivered.
  func takeFate(ofPushTo device: String) -> PushEntry.Fate {
    let fate: PushEntry.Fate? = contents.withLock { contents in
      guard contents.isShared, contents.faults.losesPush(to: device) else {
        return contents.faults.takeFate(ofPushTo: device)
      }
      return nil
    }
    if let fate { return fate }
    return (try? update { $0.takeFate(ofPushTo: device) }) ?? .delivered
  }
}
