/// A zone with its owner: what several devices see of the same records.
enum Realm: Hashable, Sendable, CustomStringConvertible {
  /// The notes of an account's own.
  case own(account: Int)
  /// The zone that the first account shares with the second.
  case common

  static let ownZone = "Notes"
  static let commonZone = "Common"

  /// The account in whose private database it lies.
  var owner: Int {
    switch self {
    case .own(let account): account
    case .common: 0
    }
  }

  var zoneName: String {
    switch self {
    case .own: Realm.ownZone
    case .common: Realm.commonZone
    }
  }

  var description: String { "\(ServerChild.accounts[owner])/\(zoneName)" }
}

/// A record, whoever looks at it.
struct NoteKey: Hashable, Sendable, CustomStringConvertible {
  var realm: Realm
  var name: String

  var description: String { "\(realm)/\(name)" }
}
