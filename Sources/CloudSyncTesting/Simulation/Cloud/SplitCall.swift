import CloudProtocol
import Records

/// A request of which some items are held back, which fail by themselves; the same ones whenever
/// the same request comes again.
struct SplitCall {
  /// What the server is given.
  var call: CloudCall
  private var error: CloudError?
  /// What the items' errors ask to wait, in turn.
  private var waits: [Double?] = [nil]
  private var order: ModifyRecords?

  /// Holds items of `call` back, at `rate` of all requests.
  init(_ call: CloudCall, rate: Double, seed: UInt64) {
    self.call = call
    guard rate > 0, case .modifyRecords(var request) = call.request, !request.isAtomic
    else { return }
    var hash = TraceHash()
    hash.mix(call.requestID)
    var random = SeededRandom(seed: seed ^ hash.value)
    guard random.chance(rate) else { return }
    let codes: [CloudError.Code] = [
      .zoneBusy, .serviceUnavailable, .requestRateLimited, .quotaExceeded, .internalError,
      .serverRejectedRequest, .serverResponseLost,
    ]
    let code = random.pick(codes)
    var error = CloudError(code, "a fault of the simulation")
    if code.isRetriedByEngine, random.chance(0.5) { error.retryAfter = 1 }
    self.error = error
    waits = code.isRetriedByEngine && random.chance(0.5) ? [nil, 1, 20, 3] : [error.retryAfter]
    order = request
    request.save.removeAll { _ in random.chance(0.4) }
    request.delete.removeAll { _ in random.chance(0.4) }
    self.call.request = .modifyRecords(request)
  }

  /// The answer to the whole request.
  func join(_ reply: CloudReply) -> CloudReply {
    guard let order, let error, case .recordsModified(let saved, let deleted) = reply else {
      return reply
    }
    var held = 0
    func refusal() -> CloudError {
      var refusal = error
      refusal.retryAfter = waits[held % waits.count]
      held += 1
      return refusal
    }
    return .recordsModified(
      saved: order.save.map { save in
        saved.first { $0.id == save.id } ?? ItemResult(id: save.id, .failure(refusal()))
      },
      deleted: order.delete.map { id in
        deleted.first { $0.id == id } ?? ItemResult(id: id, .failure(refusal()))
      })
  }
}
