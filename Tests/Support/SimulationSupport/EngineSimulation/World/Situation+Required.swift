import CloudProtocol
import LoopbackServer
import Records
import SyncMachine

/// The situations that a full run must reach: what may happen, in each phase of the engine that it
/// can meet.
///
/// The list is made of what can be, not of what some run has met. Left out are:
/// - `created` and `stopped`: the first ends within `init`, the second is an engine that is gone.
/// - `choosingZone`: the engine decides without waiting for anybody, so nothing is meant to come in
///   between.
/// - `checkingZones`: only a zone that went while the server forgot its tokens, or that it denied,
///   is asked for; a world is free never to meet that.
/// - Losing the power, the network or a zone while the app has a callback: neither the engine nor
///   its store does anything then, and what comes of it is seen with the next request.
/// - Another account while `openingZone`, `deliveringZone` or `deliveringRecords`: they last for
///   one callback of few devices, and a world is free never to meet them.
/// - A refusal that would be false of what is stored, which an app may believe and lose data:
///   `unknownItem`, `userDeletedZone` and `serverRecordChanged` for records as a whole.
extension Situation {
  /// One situation, by its name and in words.
  package struct Required: Hashable, Sendable {
    /// The fault and the stage, as runs count them.
    package var name: String
    /// What happens.
    package var sentence: String
  }

  /// All of them, fault by fault.
  package static let required: [Required] =
    Fault.allCases.flatMap { fault in
      phases(of: fault).map { stage in
        Required(
          name: name(fault, stage), sentence: "\(fault.sentence) while the engine \(stage.words).")
      }
    }
    + SharingAction.required
    + CloudError.Code.allCases.flatMap { code in
      stages(of: code).map { stage in
        Required(
          name: name(code, stage),
          sentence: "\(words(of: code)) what the engine asked when it \(stage.words).")
      }
    } + items + restarts + deletions + namings + others

  private static let requests: [Stage] = [
    .findingSubscription, .savingSubscription, .readingDatabase, .readingZone, .sendingZones,
    .sendingRecords,
  ]

  /// Single items fail with every code.
  private static let items: [Required] = [Stage.sendingZones, .sendingRecords].flatMap { stage in
    CloudError.Code.allCases.map { code in
      Required(
        name: name(itemOf: stage, code),
        sentence: "Single items fail with \(code) when the engine \(stage.words).")
    }
  }

  /// Engines begin with a state of every origin, also of the middle of a request.
  private static let restarts: [Required] = Restart.allCases.flatMap { kind in
    let sentence = "An engine begins again with \(kind.words)"
    let plain = Required(name: name(kind, isUnderWay: false), sentence: "\(sentence).")
    if kind.older == .olderLog { return [plain] }
    return [
      plain,
      Required(
        name: name(kind, isUnderWay: true),
        sentence: "\(sentence) that was made while changes were under way."),
    ]
  }

  /// Apps are told of zones that are gone, for every reason and from every token.
  private static let deletions: [Required] = ZoneDeletionReason.allCases.flatMap { reason in
    TokenState.allCases.map { token in
      Required(
        name: name(reason, token),
        sentence: "A zone is gone (\(reason)) in a fetch whose database token is \(token).")
    }
  }

  private static let others: [Required] =
    Visitor.Difference.allCases.map {
      Required(
        name: name($0), sentence: "A state is given to an engine of another \($0.rawValue).")
    }
    + AccountAvailability.allCases.map {
      Required(name: name($0), sentence: "The account of a device becomes \($0.rawValue).")
    }
    + [
      Required(
        name: serverBeganAgain, sentence: "A server in memory begins again without its data.")
    ]
  private static let waits: [Stage] = [.dormant, .idle, .checkingAccount] + requests
  private static let callbacks: [Stage] = [
    .announcingFetch, .askingFetchOptions, .deliveringDatabase, .openingZone, .deliveringZone,
    .closingZone, .closingFetch, .announcingSend, .deliveringZones, .askingBatch,
    .deliveringRecords, .closingSend,
  ]

  private static func phases(of fault: Fault) -> [Stage] {
    switch fault {
    case .kill, .edit, .deletion, .manualFetch, .manualSend, .cancel, .outage, .serverRestart,
      .expiry, .trim:
      waits + callbacks
    case .signIn, .signOut:
      waits
        + callbacks.filter {
          $0 != .openingZone && $0 != .deliveringZone && $0 != .deliveringRecords
        }
    case .power, .network, .zoneDeleted, .zonePurged, .zoneReset: waits
    // An operation by hand begins at once where nothing else is under way.
    case .taskCancel: [.checkingAccount] + requests + callbacks
    }
  }

  private static func words(of code: CloudError.Code) -> String {
    failures[code] ?? "The server answers \(code) to"
  }

  private static let failures: [CloudError.Code: String] = [
    .networkFailure: "The network fails",
    .networkUnavailable: "The device is offline for",
    .serverResponseLost: "The answer is lost to",
    .serviceUnavailable: "The server is not available for",
    .requestRateLimited: "The server throttles",
    .zoneBusy: "The server is too busy for",
    .notAuthenticated: "Nobody is known to be signed in for",
    .accountTemporarilyUnavailable: "The account is not available for",
    .internalError: "The server breaks down over",
    .quotaExceeded: "There is no room left for",
    .operationCancelled: "The way to the server gives up",
    .limitExceeded: "There is too much in",
    .permissionFailure: "It is forbidden",
    .changeTokenExpired: "The server calls the token expired for",
    .zoneNotFound: "The zone is not there for",
    .userDeletedZone: "The user has removed the zone for",
  ]

  private static func stages(of code: CloudError.Code) -> [Stage] {
    switch code {
    case .unknownItem, .userDeletedZone, .serverRecordChanged:
      [.checkingAccount] + requests.filter { $0 != .sendingRecords }
    default: [.checkingAccount] + requests
    }
  }
}

extension Situation.Fault {
  fileprivate var sentence: String {
    switch self {
    case .kill: "The app is killed"
    case .power: "The device is about to lose power in the middle of a write"
    case .network: "The network goes or comes back"
    case .outage: "The service fails for a long time"
    case .edit: "Somebody edits a record"
    case .deletion: "Somebody deletes a record"
    case .manualFetch: "The app asks for a fetch"
    case .manualSend: "The app asks for a send"
    case .cancel: "The app cancels all operations"
    case .taskCancel: "The task that waits for an operation is cancelled"
    case .signOut: "The user signs out"
    case .signIn: "A user signs in, the same one or another"
    case .serverRestart: "The server goes down and comes back"
    case .zoneDeleted: "Another device deletes a zone"
    case .zonePurged: "The user removes a zone in the settings"
    case .zoneReset: "The user resets encrypted data"
    case .expiry: "The server forgets its change tokens"
    case .trim: "The server forgets deletions"
    }
  }
}

extension Situation.Restart {
  fileprivate var words: String {
    switch self {
    case .value: "the value that an event handed over"
    case .engineValue: "the value of the engine"
    case .encoded: "a value that was encoded and decoded"
    case .log: "its log"
    case .olderValue: "an older value that an event handed over"
    case .olderEngineValue: "an older value of the engine"
    case .olderEncoded: "an older value that was encoded and decoded"
    case .olderLog: "an older copy of its log"
    }
  }
}

extension Stage {
  fileprivate var words: String {
    switch self {
    case .created: "is made"
    case .dormant: "has no account"
    case .idle: "has nothing to do"
    case .checkingAccount: "asks who is signed in"
    case .announcingFetch: "tells the app that a fetch begins"
    case .findingSubscription: "looks for its subscription"
    case .savingSubscription: "makes its subscription"
    case .askingFetchOptions: "asks the app for the options of a fetch"
    case .choosingZone: "decides what to fetch"
    case .readingDatabase: "reads the list of changed zones"
    case .deliveringDatabase: "gives the app the list of changed zones"
    case .checkingZones: "asks what became of zones that may be gone"
    case .openingZone: "tells the app that a zone's fetch begins"
    case .readingZone: "reads the changes of a zone"
    case .deliveringZone: "gives the app the changes of a zone"
    case .closingZone: "tells the app that a zone's fetch is over"
    case .closingFetch: "tells the app that a fetch is over"
    case .announcingSend: "tells the app that a send begins"
    case .sendingZones: "sends zones"
    case .deliveringZones: "tells the app what became of zones"
    case .askingBatch: "asks the app for a batch"
    case .sendingRecords: "sends records"
    case .deliveringRecords: "tells the app what became of records"
    case .closingSend: "tells the app that a send is over"
    case .stopped: "is gone"
    }
  }
}
