import CloudProtocol
import Records

/// The activity of a machine, with its data.
enum Activity: Sendable {
  case created
  case resting
  case checkingAccount(RequestToken)
  case fetching(Fetch)
  case sending(Send)
  case stopped
}

/// A running fetch.
struct Fetch: Sendable {
  /// The current step.
  enum Step: Sendable {
    case announcing
    case findingSubscription(RequestToken)
    case makingSubscription(SubscriptionID)
    case savingSubscription(RequestToken, SubscriptionID)
    case ready
    case asking
    case choosing
    case readingDatabase(RequestToken)
    /// The database token expired: the list of zones is fetched again from the start.
    case relisting
    case deliveringDatabase(DatabaseChangesPage)
    case checkingZones(RequestToken, [ZoneID])
    case openingZone
    case readingZone(RequestToken)
    case deliveringZone(ZoneChangesPage)
    case closingZone(reopens: Bool)
    case closing
  }

  /// The zone whose changes are being fetched.
  struct OpenZone: Sendable {
    var id: ZoneID
    /// The token of the next page; ahead of the state while the zone starts over.
    var cursor: ChangeToken?
    /// Whether the zone is fetched from the start; an interrupted fetch starts over again.
    var startsOver: Bool
    /// The next page, requested while the app handles the one before.
    var nextPage: NextPage?
  }

  /// A page that was requested before the app has returned from the page before.
  struct NextPage: Sendable {
    var token: RequestToken
    /// The reply, if it came before the page was needed.
    var answer: Result<CloudReply, CloudError>?

    /// Whether the request has failed.
    var hasFailed: Bool {
      if case .failure? = answer { true } else { false }
    }
  }

  /// A listing of the zones from the start although some were known.
  struct Relisting: Sendable {
    /// The zones it has named so far.
    var zones: Set<ZoneID> = []
    /// Whether the server reported, with the expired token, that it lost all its data.
    var isServerReset = false
  }

  var context: FetchContext
  /// The app's last answer to the question for options; `nil` before the first one.
  var chosenOptions: FetchOptions?
  var waiters: [Waiter]
  var step: Step = .announcing
  /// The token of the next page of database changes; ahead of the state while relisting.
  var databaseCursor: ChangeToken?
  /// The running relisting; it ends when all zones in doubt are checked.
  var relisting: Relisting?
  /// Zones that may have been deleted, to check when the list of zones is complete.
  var zonesInDoubt: Set<ZoneID> = []
  /// The maximum number of zones in one check; less than CloudKit's limit for one request.
  var zonesPerQuestion = 100
  /// Zones whose fetch failed as if they had been deleted.
  var deniedZones: Set<ZoneID> = []
  /// The transient error that prevented the subscription, if any.
  var subscriptionFailure: CloudError.Code?
  var hasReadDatabase = false
  var zone: OpenZone?
  /// Zones that this fetch has finished, with or without an error.
  var finishedZones: Set<ZoneID> = []
  var failure: OperationFailure?
  /// The number of record changes delivered to the app.
  var recordCount = 0

  /// The options of the next request.
  var options: FetchOptions { chosenOptions ?? context.options }

  /// The requests that have no reply.
  var openRequests: [RequestToken] {
    let next = zone?.nextPage.flatMap { $0.answer == nil ? $0.token : nil }
    return [awaited, next].compactMap(\.self)
  }

  /// The request whose reply the fetch awaits.
  var awaited: RequestToken? {
    switch step {
    case .findingSubscription(let token), .savingSubscription(let token, _),
      .readingDatabase(let token), .checkingZones(let token, _), .readingZone(let token):
      token
    case .announcing, .makingSubscription, .ready, .asking, .choosing, .relisting,
      .deliveringDatabase, .openingZone, .deliveringZone, .closingZone, .closing:
      nil
    }
  }

  var stage: Stage {
    switch step {
    case .announcing: .announcingFetch
    case .findingSubscription: .findingSubscription
    case .makingSubscription, .savingSubscription: .savingSubscription
    case .ready, .asking: .askingFetchOptions
    case .choosing: .choosingZone
    case .readingDatabase, .relisting: .readingDatabase
    case .deliveringDatabase: .deliveringDatabase
    case .checkingZones: .checkingZones
    case .openingZone: .openingZone
    case .readingZone: .readingZone
    case .deliveringZone: .deliveringZone
    case .closingZone: .closingZone
    case .closing: .closingFetch
    }
  }

  /// Whether `error` refuses a question for more zones than the server takes, which is asked again
  /// in parts.
  func isDivided(by error: CloudError) -> Bool {
    guard case .checkingZones(_, let zones) = step else { return false }
    return error.code == .limitExceeded && zones.count > 1
  }

  /// Records that the deletion of `zone` was delivered to the app; this also explains its errors.
  mutating func noteGone(_ zone: ZoneID) {
    zonesInDoubt.remove(zone)
    guard failure?.zones.removeValue(forKey: zone) != nil else { return }
    if failure?.zones.isEmpty == true, failure?.error.code == .partialFailure { failure = nil }
  }
}

/// A running send.
struct Send: Sendable {
  /// The current step.
  enum Step: Sendable {
    case announcing
    case sendingZones(RequestToken, ModifyZones)
    case deliveringZones
    case asking(untrackedVersion: UInt64)
    /// The app has provided no batch from a part of the changes, and will be asked again.
    case declined
    /// The app has provided the batch, and its changes are in flight.
    case given(RecordBatch)
    case sendingRecords(RequestToken, RecordBatch)
    case deliveringRecords
    case closing
  }

  var context: SendContext
  var waiters: [Waiter]
  var step: Step = .announcing
  /// The parts of a batch that was too large, in order.
  var parts: [RecordBatch] = []
  /// The maximum number of zone changes in one request; reduced after `limitExceeded`.
  var zonesPerRequest = 100
  /// Records added while the app built a batch, which may contain an older change of them: from the
  /// ID that feeds use to the ID that the app used.
  var addedWhileAsking: [RecordID: RecordID] = [:]
  /// Records in the event that the app is handling; settled when it has returned.
  var reportedRecords: [RecordID] = []
  /// Zones in the event that the app is handling; settled when it has returned.
  var reportedZones: [ReportedZone] = []
  /// Zones whose changes were refused: one that the app adds again waits for the next send.
  var refusedZones: Set<ZoneID> = []
  /// The records of the batches without a pending change.
  var untracked: Set<RecordID> = []
  /// Whether the app's batches repeat such records, so that asking again might never end.
  var isFruitless = false
  var failure: OperationFailure?
  /// Whether the send ends after the event that the app is handling.
  var isOver = false
  /// Whether a failed change will be retried.
  var hasRetries = false
  /// The number of record changes with a result.
  var recordCount = 0
  /// The number of zone changes with a result.
  var zoneCount = 0

  /// The request whose reply the send awaits.
  var awaited: RequestToken? {
    switch step {
    case .sendingZones(let token, _), .sendingRecords(let token, _): token
    case .announcing, .deliveringZones, .asking, .declined, .given, .deliveringRecords, .closing:
      nil
    }
  }

  var stage: Stage {
    switch step {
    case .announcing: .announcingSend
    case .sendingZones: .sendingZones
    case .deliveringZones: .deliveringZones
    case .asking, .declined, .given: .askingBatch
    case .sendingRecords: .sendingRecords
    case .deliveringRecords: .deliveringRecords
    case .closing: .closingSend
    }
  }
}

/// A zone in the event that the app is handling.
struct ReportedZone: Sendable {
  var id: ZoneID
  /// Whether it was deleted.
  var isForgotten: Bool
}
