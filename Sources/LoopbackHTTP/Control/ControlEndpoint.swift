/// The endpoints of the control interface.
enum ControlEndpoint: String, CaseIterable {
  case status
  case accounts
  case databases
  case zones
  case records
  case changes
  case subscriptions
  case schema
  case devices
  case requests
  case events
  case faults
  case signIn = "sign-in"
  case exportArchive = "export"
  case importArchive = "import"
  case reset
  case stop
  case keys

  /// The prefix of every control path.
  static let prefix = "/cloudsync/1/"

  /// The endpoint at `path`; `nil` for any other path.
  init?(path: String) {
    guard path.hasPrefix(ControlEndpoint.prefix) else { return nil }
    self.init(rawValue: String(path.dropFirst(ControlEndpoint.prefix.count)))
  }

  /// The allowed methods.
  var methods: [String] {
    switch self {
    case .status, .accounts, .databases, .zones, .records, .changes, .subscriptions, .schema,
      .devices,
      .requests, .events:
      ["GET", "HEAD"]
    case .faults, .keys: ["GET", "HEAD", "POST"]
    case .signIn, .importArchive, .reset, .stop: ["POST"]
    // Answering HEAD would cost as much as the whole archive.
    case .exportArchive: ["GET"]
    }
  }
}
