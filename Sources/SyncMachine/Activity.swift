import CloudProtocol
import Records

/// What a machine is doing, with all that belongs to it.
enum Activity: Sendable {
  case created
  case resting
  case checkingAccount(RequestToken)
  case fetching(Fetch)
  case sending(Send)
  case stopped
}

/// A fetch under way.
struct Fetch: Sendable {
  /// Where it stands.
  enum Step: Sendable {
    case announcing
    case findingSubscription(RequestToken)
    case makingSubscription(SubscriptionID)
    case savingSubscription(RequestToken, SubscriptionID)
    case ready
    case asking
    case choosing
    case readingDatabase(RequestToken)
    /// The database's token expired: the list of zones is read again, from the start.
    case relisting
    case deliveringDatabase(DatabaseChangesPage)
    case checkingZones(RequestToken, [ZoneID])
    case openingZone
    case readingZone(RequestToken)
    case deliveringZone(ZoneChangesPage)
    case closingZone(reopens: Bool)
    case closing
  }

  /// The zone whose feed is being read.
  struct OpenZone: Sendable {
    var id: ZoneID
    /// Where the next page begins; runs ahead of the state while the zone starts over.
    var cursor: ChangeToken?
    /// Whether everything must be read in one go, and again from the start when that is cut off.
    var startsOver: Bool
  }

  var context: FetchContext
  var waiters: [Waiter]
  var step: Step = .announcing
  /// Where the next page of the database feed begins; runs ahead of the state while relisting.
  var databaseCursor: ChangeToken?
  /// Whether the zones are listed from the start although some were known.
  var isRelisting: Bool
  /// The zones a relisting has named so far.
  var listedZones: Set<ZoneID> = []
  /// Whether the server said with the expired token that it lost all data it had.
  var isServerReset = false
  /// Zones that may be gone, to be asked for when the list of zones was read to its end.
  var zonesInDoubt: Set<ZoneID> = []
  /// The most zones in one question; less than CloudKit's limit for one request.
  var zonesPerQuestion = 100
  /// Zones whose feed was denied as if they were gone.
  var deniedZones: Set<ZoneID> = []
  /// Why the subscription could not be had, when that is a reason that passes.
  var subscriptionFailure: CloudError.Code?
  var hasReadDatabase = false
  var zone: OpenZone?
  /// Zones this fetch is done with, well or not.
  var finishedZones: Set<ZoneID> = []
  var failure: OperationFailure?
  /// How many record changes the app has taken.
  var recordCount = 0

  /// The request whose answer the fetch waits for.
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
}

extension Fetch {
  /// Notes that the app was told that `zone` is gone: it is in doubt no more, and what failed in it
  /// is explained.
  mutating func noteGone(_ zone: ZoneID) {
    zonesInDoubt.remove(zone)
    guard failure?.zones.removeValue(forKey: zone) != nil else { return }
    if failure?.zones.isEmpty == true, failure?.error.code == .partialFailure { failure = nil }
  }
}

/// A send under way.
struct Send: Sendable {
  /// Where it stands.
  enum Step: Sendable {
    case announcing
    case sendingZones(RequestToken, ModifyZones)
    case deliveringZones
    case asking(untrackedVersion: UInt64)
    /// The batch is there, and its changes are under way.
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
  /// The most zone changes in one request; less after the server found it too many.
  var zonesPerRequest = 100
  /// Records added while the app was busy with a batch, which may hold an older wish for them, as
  /// feeds name them, and as the app did.
  var addedWhileAsking: [RecordID: RecordID] = [:]
  /// Records of which the app is being told; they are settled when it has returned.
  var toldRecords: [ToldRecord] = []
  /// Zones of which the app is being told; they are settled when it has returned.
  var toldZones: [ToldZone] = []
  /// Whether the app's batches no longer touch anything pending, so that asking on could go on
  /// for ever.
  var isFruitless = false
  var failure: OperationFailure?
  /// Whether something failed that is to be tried again.
  var hasRetries = false
  /// How many record changes were answered.
  var recordCount = 0
  /// How many zone changes were answered.
  var zoneCount = 0

  /// The request whose answer the send waits for.
  var awaited: RequestToken? {
    switch step {
    case .sendingZones(let token, _), .sendingRecords(let token, _): token
    case .announcing, .deliveringZones, .asking, .given, .deliveringRecords, .closing: nil
    }
  }

  var stage: Stage {
    switch step {
    case .announcing: .announcingSend
    case .sendingZones: .sendingZones
    case .deliveringZones: .deliveringZones
    case .asking, .given: .askingBatch
    case .sendingRecords: .sendingRecords
    case .deliveringRecords: .deliveringRecords
    case .closing: .closingSend
    }
  }
}

/// A manual operation that waits for its turn.
enum QueuedOperation: Sendable {
  case fetch(FetchContext, [Waiter])
  case send(SendContext, [Waiter])

  /// The calls that wait for it.
  var waiters: [Waiter] {
    switch self {
    case .fetch(_, let waiters), .send(_, let waiters): waiters
    }
  }
}

/// What the machine knows of the account.
enum AccountKnowledge: Equatable, Sendable {
  /// Not asked yet, or asked in vain.
  case unknown(CloudError?)
  /// Signed in.
  case signedIn(UserID)
  /// Asked, and there is none that can be used.
  case unavailable(CloudError)
}

/// A record of which the app is being told.
///
/// Not a tuple: arrays of those are copied and let go of element by element through the runtime.
struct ToldRecord: Sendable {
  var id: RecordID
  /// Whether its change waits again afterwards.
  var returns: Bool
}

/// A zone of which the app is being told.
struct ToldZone: Sendable {
  var id: ZoneID
  /// Whether its change waits again afterwards.
  var returns: Bool
  var isForgotten: Bool
}
