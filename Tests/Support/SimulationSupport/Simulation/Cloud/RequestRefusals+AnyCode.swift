import CloudProtocol

/// Refusals with every code, for every kind of request.
extension RequestRefusals {
  /// A failure that meets the next requests of one kind from one device as well.
  struct RepeatedRefusal: Sendable {
    var kind: RequestKind
    var code: CloudError.Code
    var left: Int
  }

  /// The kinds of requests.
  enum RequestKind: Sendable {
    case account, findSubscription, saveSubscription, database, zoneCheck, zone, zones, records
    case other

    /// Those that an engine makes.
    static let ofEngines: [RequestKind] = [
      .account, .findSubscription, .saveSubscription, .database, .zoneCheck, .zone, .zones,
      .records,
    ]

    init(_ request: CloudRequest) {
      switch request {
      case .fetchCurrentUser: self = .account
      case .fetchSubscriptions: self = .findSubscription
      case .modifySubscriptions: self = .saveSubscription
      case .fetchDatabaseChanges: self = .database
      case .fetchZones: self = .zoneCheck
      case .fetchZoneChanges: self = .zone
      case .modifyZones: self = .zones
      case .modifyRecords: self = .records
      case .fetchRecords, .queryRecords, .resolveShares, .acceptShares, .findUsers, .uploadAsset,
        .downloadAsset:
        self = .other
      }
    }
  }

  /// A refusal with any code, and what is left of one that goes on.
  mutating func refusal(
    of request: CloudRequest, from device: Int, isDeniable: Bool, _ random: inout SeededRandom
  ) -> CloudError? {
    let kind = RequestKind(request)
    if let repeatedRefusal = repeated[device], repeatedRefusal.kind == kind {
      repeated[device] = repeatedRefusal.left > 1 ? repeatedRefusal : nil
      repeated[device]?.left -= 1
      return allowed(repeatedRefusal.code, request, isDeniable, &random)
    }
    guard random.chance(rates.refused) else { return nil }
    var code = random.pick(CloudError.Code.allCases)
    if isDeniable, random.chance(0.2) { code = random.pick([.zoneNotFound, .userDeletedZone]) }
    if random.chance(0.3) {
      repeated[device] = RepeatedRefusal(kind: kind, code: code, left: random.number(in: 1...5))
    }
    return allowed(code, request, isDeniable, &random)
  }

  func allowed(
    _ code: CloudError.Code, _ request: CloudRequest, _ isDeniable: Bool,
    _ random: inout SeededRandom
  ) -> CloudError? {
    guard !request.wouldMislead(by: code, isDeniable: isDeniable) else { return nil }
    return Self.refusal(code, &random)
  }
}

extension CloudRequest {
  /// Whether a failure of the whole request with `code` says something of what is stored, which
  /// would be false: an app that believes it has every right to lose data.
  ///
  /// - Parameter isDeniable: Whether the zone that is read is there, so that its denial passes.
  func wouldMislead(by code: CloudError.Code, isDeniable: Bool) -> Bool {
    let deniesZone = code == .zoneNotFound || code == .userDeletedZone
    switch self {
    case .modifyRecords(let request):
      // A conflict without a record leaves nothing to merge with.
      if code == .unknownItem || code == .userDeletedZone || code == .serverRecordChanged {
        return true
      }
      return code == .zoneNotFound && !request.delete.isEmpty
    case .modifyZones(let request): return deniesZone && !request.delete.isEmpty
    case .fetchZoneChanges: return deniesZone && !isDeniable
    case .fetchCurrentUser, .fetchZones, .fetchRecords, .fetchSubscriptions,
      .modifySubscriptions, .fetchDatabaseChanges, .queryRecords, .resolveShares, .acceptShares,
      .findUsers, .uploadAsset, .downloadAsset:
      return false
    }
  }
}
