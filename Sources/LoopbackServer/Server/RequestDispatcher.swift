import CloudMachine
package import CloudProtocol
import Records

/// Dispatches requests: applies their faults, runs them on the machine and sends the resulting
/// pushes.
final class RequestDispatcher: Sendable {
  let executor: MachineExecutor
  let controls: FaultControls
  let clock: @Sendable () -> Timestamp
  /// Called between two slices of a query to let other requests run.
  private let pause: @Sendable () async -> Void

  init(
    executor: MachineExecutor, controls: FaultControls, clock: @escaping @Sendable () -> Timestamp,
    pause: @escaping @Sendable () async -> Void
  ) {
    self.executor = executor
    self.controls = controls
    self.clock = clock
    self.pause = pause
  }

  /// Answers a call.
  ///
  /// - Parameters:
  ///   - choseRequestID: Whether the device chose the ID of the request; else it can't be repeated.
  ///   - onReply: Called with the reply before a database elsewhere has committed the change; again
  ///     if the transaction runs again.
  func send(
    _ call: CloudCall, from device: DeviceState, choseRequestID: Bool = true,
    onReply: (@Sendable (CloudReply) -> Void)? = nil
  ) async throws(CloudError) -> CloudReply {
    try checkCancellation()
    guard device.isOnline else {
      throw CloudError(.networkUnavailable, "\(device.name) is offline")
    }
    var faults = controls.receive(
      call, device: device.name, account: device.account, now: clock())
    do {
      if faults.areShared { faults = try await controls.faults.takeShared(faults) }
      let reply = try await answer(
        call, from: device, choseRequestID: choseRequestID, faults, onReply)
      controls.finish(faults.entry, .answered, refused: reply.refusedItems, now: clock())
      return reply
    } catch {
      controls.finish(faults.entry, .failed(error.code), now: clock())
      throw error
    }
  }

  private func answer(
    _ call: CloudCall, from device: DeviceState, choseRequestID: Bool, _ faults: RequestFaults,
    _ onReply: (@Sendable (CloudReply) -> Void)?
  ) async throws(CloudError) -> CloudReply {
    for seconds in faults.delays { try await controls.sleep(seconds) }
    if faults.holdsBeforeCommit { try await controls.hold(faults.entry, at: .beforeCommit) }
    try checkCancellation()
    if let failure = faults.failure { throw failure }
    var call = call
    if case .uploadAsset(var upload) = call.request {
      // Reading a file takes time, in which other requests run.
      upload.content = try upload.content.preparedForUpload()
      call.request = .uploadAsset(upload)
    }
    let outcome = await executor.begin(
      call, account: device.account, device: device.name,
      availability: device.availability, choseRequestID: choseRequestID, now: clock(),
      onReply: onReply)
    controls.pushDispatcher.send(outcome.pushes)
    let result: Result<CloudReply, CloudError>
    switch outcome.step {
    case .answered(let answer): result = answer.result
    case .querying(let scan): result = try await self.result(of: scan)
    }
    for body in faults.bodies { await body(faults.entry) }
    do throws(CloudError) {
      if faults.holdsAfterCommit { try await controls.hold(faults.entry, at: .afterCommit) }
      try checkCancellation()
    } catch {
      throw error == .cancelled ? .cancelledAfterCommit : error
    }
    if let lost = faults.loss { throw lost }
    guard device.isOnline else {
      throw CloudError(.networkFailure, "\(device.name) went offline before the answer arrived")
    }
    return try result.get()
  }

  /// Reads a query's records slice by slice; other requests run in between.
  ///
  /// Ends early when the caller's task is cancelled, as it is when an HTTP client disconnects or
  /// the HTTP server stops, and when this server is closed.
  private func result(
    of scan: QueryScan
  ) async throws(CloudError) -> Result<CloudReply, CloudError> {
    var scan = scan
    while true {
      scan.examine()
      if let result = scan.result { return result }
      await pause()
      try checkCancellation()
      scan = try await executor.read(scan)
    }
  }

  private func checkCancellation() throws(CloudError) {
    if Task.isCancelled { throw .cancelled }
  }
}

extension CloudError {
  /// The request's task was cancelled before the request changed anything.
  package static let cancelled = CloudError(
    .operationCancelled, "the request was cancelled and changed nothing")
  /// The request's task was cancelled after the request was carried out.
  package static let cancelledAfterCommit = CloudError(
    .operationCancelled, "the request was cancelled after it was carried out")
}
