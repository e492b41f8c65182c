/// A zone with its owner: what several devices see of the same records.
struct Realm: Hashable, Sendable, CustomStringConvertible {
  /// The account in whose private database it lies.
  var owner: Int
  var zoneName: String

  /// The notes of an account's own.
  static func own(_ account: Int) -> Realm { Realm(owner: account, zoneName: "Notes") }

  /// The zone that the first account shares with the second.
  static let common = Realm(owner: 0, zoneName: "Common")

  var description: String { "\(ServerChild.accounts[owner])/\(zoneName)" }
}

/// A record, whoever looks at it.
struct NoteKey: Hashable, Sendable, CustomStringConvertible {
  var realm: Realm
  var name: String

  var description: String { "\(realm)/\(name)" }
}
