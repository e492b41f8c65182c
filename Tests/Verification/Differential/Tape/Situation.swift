import Records

/// The next step of a tape.
enum Step: String, CaseIterable {
  case modify, again, zones, page, drain, drainDatabase, read, query, list, administer
  case quota, upload, download, copyAsset
  case subscribe, subscriptions
  case makeShare, changeShare, endShare, resolve, accept
  case guest
}

/// Something that a full run must have met, besides every step and every comparator.
enum Situation: String, CaseIterable {
  case conflict, missingZone, brokenReference, innocentInBatch
  case quotaFilled, quotaRefused
  case uploadTooLarge, wrongReceipt, downloaded, downloadRefused, assetSaved, assetReused
  case visitorSaved, visitorDeleted, visitorRefused, visitorLeft, visitorSaw, zoneLeft
  case shareMade, shareChanged, shareOverlaps, shareBesideZone, shareWithoutRoot, invitedTwice
  case accepted, notInvited, needsVerification, unknownShare
  case publicSaved, strangerRefused, guestRead, guestRefused
  case pushDatabase, pushZone, pushShared, pushCreated, pushUpdated, pushDeleted, pushPublic
  case subscriptionRefused
  case queryPaged, queryRefused, queryShared, foreignCursor
  case expiredVisit, ownSpelling

  /// The names of everything that a full run must meet.
  static var required: [String] {
    Step.allCases.map(\.rawValue) + allCases.map(\.rawValue)
      + Query.Filter.Comparator.allCases.map { "query \($0.rawValue)" }
  }
}

/// The main subject of a tape.
enum Theme: CaseIterable {
  case records, sharing, everyone, services

  /// The steps with their weights.
  var steps: [(Step, Int)] {
    switch self {
    case .records:
      [
        (.modify, 46), (.again, 6), (.zones, 6), (.page, 8), (.drain, 10), (.drainDatabase, 6),
        (.read, 6), (.query, 5), (.list, 2), (.administer, 5),
      ]
    case .sharing:
      [
        (.modify, 26), (.again, 3), (.zones, 1), (.page, 3), (.drain, 9), (.drainDatabase, 6),
        (.read, 5), (.query, 5), (.list, 3), (.administer, 2), (.makeShare, 9),
        (.changeShare, 9), (.endShare, 4), (.resolve, 4), (.accept, 7), (.subscribe, 5),
        (.upload, 3), (.download, 2), (.quota, 1),
      ]
    case .everyone:
      [
        (.modify, 34), (.again, 3), (.zones, 1), (.read, 8), (.query, 16), (.list, 2),
        (.subscribe, 8), (.subscriptions, 2), (.upload, 5), (.download, 4), (.guest, 10),
        (.drain, 2), (.drainDatabase, 1), (.makeShare, 1),
      ]
    case .services:
      [
        (.modify, 30), (.again, 3), (.zones, 4), (.drain, 4), (.drainDatabase, 2), (.read, 4),
        (.query, 12), (.administer, 2), (.quota, 7), (.upload, 9), (.download, 5),
        (.copyAsset, 5), (.subscribe, 9), (.subscriptions, 3),
      ]
    }
  }
}
