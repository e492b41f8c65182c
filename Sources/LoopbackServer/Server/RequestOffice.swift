import CloudMachine
package import CloudProtocol
import Records

/// Takes requests through the faults set up for them and the machine, and sends the pushes.
final class RequestOffice: Sendable {
  let room: MachineRoom
  let controls: FaultControls
  let clock: @Sendable () -> Timestamp
  /// Called between two slices of a query, to let other requests run.
  private let pause: @Sendable () async -> Void

  init(
    room: MachineRoom, controls: FaultControls, clock: @escaping @Sendable () -> Timestamp,
    pause: @escaping @Sendable () async -> Void
  ) {
    self.room = room
    self.controls = controls
    self.clock = clock
    self.pause = pause
  }

  func carry(_ call: CloudCall, from device: DeviceState) async throws(CloudError) -> CloudReply {
    try checkCancellation()
    guard device.isOnline else {
      throw CloudError(.networkUnavailable, "\(device.name) is offline")
    }
    let passage = controls.receive(
      call, device: device.name, account: device.account, now: clock())
    do {
      let reply = try await answer(call, from: device, passage)
      controls.finish(passage.entry, .answered)
      return reply
    } catch {
      controls.finish(passage.entry, .failed(error.code))
      throw error
    }
  }

  private func answer(
    _ call: CloudCall, from device: DeviceState, _ passage: Passage
  ) async throws(CloudError) -> CloudReply {
    for seconds in passage.delays { try await controls.sleep(seconds) }
    if passage.holdsBeforeCommit { try await controls.hold(passage.entry, at: .beforeCommit) }
    try checkCancellation()
    if let failure = passage.failure { throw failure }
    let outcome = room.begin(
      call, account: device.account, device: device.name,
      availability: device.availability.callerAvailability, now: clock())
    controls.post.send(outcome.pushes)
    let result: Result<CloudReply, CloudError>
    switch outcome.step {
    case .ended(let found): result = found
    case .querying(let scan): result = try await self.result(of: scan)
    }
    for body in passage.bodies { await body(passage.entry) }
    do throws(CloudError) {
      if passage.holdsAfterCommit { try await controls.hold(passage.entry, at: .afterCommit) }
      try checkCancellation()
    } catch {
      throw error == .cancelled ? .cancelledAfterCommit : error
    }
    if let lost = passage.loss { throw lost }
    guard device.isOnline else {
      throw CloudError(.networkFailure, "\(device.name) went offline before the answer arrived")
    }
    return try result.get()
  }

  /// Reads a query's records slice by slice; other requests run in between.
  ///
  /// Ends early when the caller's task is cancelled, as it is when a client is gone or its server
  /// over HTTP ends, and when this server is closed.
  private func result(
    of scan: QueryScan
  ) async throws(CloudError) -> Result<CloudReply, CloudError> {
    var scan = scan
    while true {
      try room.read(&scan)
      scan.examine()
      if let result = scan.result { return result }
      await pause()
      try checkCancellation()
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
