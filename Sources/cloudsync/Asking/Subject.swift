/// What `inspect` can show.
enum Subject: String, CaseIterable {
  case accounts
  case databases
  case zones
  case records
  case changes
  case subscriptions
  case devices
  case requests

  /// Whether it is a database's, and one has to be chosen.
  var needsDatabase: Bool {
    switch self {
    case .zones, .records, .changes, .subscriptions: true
    case .accounts, .databases, .devices, .requests: false
    }
  }

  /// Whether it is a zone's, and one has to be chosen.
  var needsZone: Bool {
    switch self {
    case .records, .changes: true
    case .accounts, .databases, .zones, .subscriptions, .devices, .requests: false
    }
  }

  /// Whether the server answers it page by page.
  var hasPages: Bool {
    switch self {
    case .records, .changes, .requests: true
    case .accounts, .databases, .zones, .subscriptions, .devices: false
    }
  }
}
