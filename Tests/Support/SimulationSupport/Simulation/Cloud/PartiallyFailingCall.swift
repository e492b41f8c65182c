import CloudProtocol
import Records

/// A request of which some items are held back, which fail by themselves; the same ones whenever
/// the same request comes again.
struct PartiallyFailingCall {
  /// The call without the items that fail.
  var call: CloudCall
  private var error: CloudError?
  /// The retry-after times of the items' errors, used in turn.
  private var waits: [Double?] = [nil]
  private var order: CloudRequest?

  /// The codes that likely fail single items.
  private static let likely: [CloudError.Code] = [
    .zoneBusy, .serviceUnavailable, .requestRateLimited, .quotaExceeded, .internalError,
    .serverRejectedRequest, .serverResponseLost,
  ]

  /// Holds items of `call` back, at `rate` of all requests.
  ///
  /// - Parameter hasAnyCode: Whether items fail with any code that says nothing false of what is
  ///   stored, and zones as well as records.
  init(_ call: CloudCall, rate: Double, seed: UInt64, hasAnyCode: Bool = false) {
    self.call = call
    guard rate > 0, Self.canSplit(call.request, hasAnyCode) else { return }
    var hash = TraceHash()
    hash.mix(call.requestID)
    var random = SeededRandom(seed: seed ^ hash.value)
    guard random.chance(rate) else { return }
    var code = random.pick(Self.likely)
    if hasAnyCode, random.chance(0.8) { code = random.pick(CloudError.Code.allCases) }
    guard !Self.misleads(code, call.request) else { return }
    var error = CloudError(code, "a fault of the simulation")
    if random.chance(0.5) { error.retryAfter = 1 }
    self.error = error
    waits = random.chance(0.5) ? [20, 1] : [error.retryAfter]
    order = call.request
    self.call.request = Self.rest(of: call.request, held: hasAnyCode ? 0.6 : 0.4, &random)
  }

  private static func canSplit(_ request: CloudRequest, _ hasAnyCode: Bool) -> Bool {
    switch request {
    case .modifyRecords(let request): !request.isAtomic
    case .modifyZones, .fetchZones, .modifySubscriptions: hasAnyCode
    default: false
    }
  }

  private static func misleads(_ code: CloudError.Code, _ request: CloudRequest) -> Bool {
    if case .fetchZones = request { return code == .zoneNotFound || code == .userDeletedZone }
    return request.wouldMislead(by: code, isDeniable: false)
  }

  /// The request without the items that are held back, each with the probability `held`.
  private static func rest(
    of request: CloudRequest, held: Double, _ random: inout SeededRandom
  ) -> CloudRequest {
    switch request {
    case .modifyRecords(var request):
      request.save.removeAll { _ in random.chance(held) }
      request.delete.removeAll { _ in random.chance(held) }
      return .modifyRecords(request)
    case .modifyZones(var request):
      request.save.removeAll { _ in random.chance(held) }
      request.delete.removeAll { _ in random.chance(held) }
      return .modifyZones(request)
    case .fetchZones(let zones?):
      return .fetchZones(zones.filter { _ in !random.chance(held) })
    case .modifySubscriptions(var request):
      request.save.removeAll { _ in random.chance(held) }
      return .modifySubscriptions(request)
    default: return request
    }
  }

  /// The answer to the whole request.
  func join(_ reply: CloudReply) -> CloudReply {
    guard let order, let error else { return reply }
    var held = 0
    func whole<ID, Value>(
      _ ids: [ID], _ results: [ItemResult<ID, Value>]
    ) -> [ItemResult<ID, Value>] {
      ids.map { id in
        if let result = results.first(where: { $0.id == id }) { return result }
        var refusal = error
        refusal.retryAfter = waits[held % waits.count]
        held += 1
        return ItemResult(id: id, .failure(refusal))
      }
    }
    switch (order, reply) {
    case (.modifyRecords(let order), .recordsModified(let saved, let deleted)):
      return .recordsModified(
        saved: whole(order.save.map(\.id), saved), deleted: whole(order.delete, deleted))
    case (.modifyZones(let order), .zonesModified(let saved, let deleted)):
      return .zonesModified(
        saved: whole(order.save, saved), deleted: whole(order.delete, deleted))
    case (.modifySubscriptions(let order), .subscriptionsModified(let saved, let deleted)):
      return .subscriptionsModified(saved: whole(order.save.map(\.id), saved), deleted: deleted)
    case (.fetchZones(let order?), .zones(let results)):
      return .zones(whole(order, results))
    default: return reply
    }
  }
}
