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
    /// A sentence about the situation.
    package var sentence: String
  }

  /// All of them, fault by fault.
  package static let required: [Required] =
    Fault.allCases.flatMap { fault in
      phases(of: fault).map { stage in
        Required(
          name: name(fault, stage),
          sentence: "\(SituationWords.of("fault", fault.rawValue)) while the engine \(stage.words)."
        )
      }
    }
    + SharingAction.required
    + CloudError.Code.allCases.flatMap { code in
      stages(of: code).map { stage in
        Required(
          name: name(code, stage),
          sentence: "\(SituationWords.failure(code)) what the engine asked when it \(stage.words).")
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
    let sentence = "An engine begins again with \(SituationWords.of("restart", kind.rawValue))"
    let plain = Required(name: name(kind, isInFlight: false), sentence: "\(sentence).")
    if kind.older == .olderLog { return [plain] }
    return [
      plain,
      Required(
        name: name(kind, isInFlight: true),
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
    ForeignStateApp.Difference.allCases.map {
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

  private static func stages(of code: CloudError.Code) -> [Stage] {
    switch code {
    case .unknownItem, .userDeletedZone, .serverRecordChanged:
      [.checkingAccount] + requests.filter { $0 != .sendingRecords }
    default: [.checkingAccount] + requests
    }
  }
}

/// The words of which the sentences about situations are made, from `Situations.txt`.
///
/// A line has a kind, a name and the words: `fault kill: The app is killed`.
enum SituationWords {
  private static let words: [String: String] = Dictionary(
    String(decoding: PackageResources.Situations_txt, as: UTF8.self).split(separator: "\n")
      .compactMap { line in
        line.firstRange(of: ": ").map {
          (String(line[..<$0.lowerBound]), String(line[$0.upperBound...]))
        }
      },
    uniquingKeysWith: { first, _ in first })

  /// The words for `name`; the name itself if there are none.
  static func of(_ kind: String, _ name: String) -> String { words["\(kind) \(name)"] ?? name }

  /// The words for the failure of a request.
  static func failure(_ code: CloudError.Code) -> String {
    words["failure \(code)"] ?? "The server answers \(code) to"
  }
}

extension Stage {
  fileprivate var words: String { SituationWords.of("stage", rawValue) }
}
