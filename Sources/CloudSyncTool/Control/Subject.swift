/// The subjects of `inspect`.
enum Subject: String, CaseIterable {
  case accounts
  case databases
  case zones
  case records
  case changes
  case subscriptions
  case devices
  case requests
  case schema

  /// The member of the response that has the entries.
  var member: String { self == .schema ? "recordTypes" : rawValue }

  /// What the entries are called in messages.
  var words: String { self == .schema ? "record types" : rawValue }

  /// Whether the subject belongs to a database, which must be selected.
  var needsDatabase: Bool {
    switch self {
    case .zones, .records, .changes, .subscriptions, .schema: true
    case .accounts, .databases, .devices, .requests: false
    }
  }

  /// Whether the subject belongs to a zone, which must be selected.
  var needsZone: Bool {
    switch self {
    case .records, .changes: true
    case .accounts, .databases, .zones, .subscriptions, .devices, .requests, .schema: false
    }
  }

  /// Whether the server returns the subject in pages.
  var hasPages: Bool {
    switch self {
    case .records, .changes, .requests: true
    case .accounts, .databases, .zones, .subscriptions, .devices, .schema: false
    }
  }
}
