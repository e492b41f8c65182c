/// What can be asked of a running server besides what apps ask.
enum ControlEndpoint: String, CaseIterable {
  case status
  case accounts
  case databases
  case zones
  case records
  case changes
  case subscriptions
  case devices
  case requests
  case events
  case faults
  case signIn = "sign-in"
  case exportArchive = "export"
  case importArchive = "import"
  case reset

  /// Where all of them are.
  static let prefix = "/cloudsync/1/"

  /// The endpoint at `path`, if it is one.
  init?(path: String) {
    guard path.hasPrefix(ControlEndpoint.prefix) else { return nil }
    self.init(rawValue: String(path.dropFirst(ControlEndpoint.prefix.count)))
  }

  /// The methods it takes.
  var methods: [String] {
    switch self {
    case .status, .accounts, .databases, .zones, .records, .changes, .subscriptions, .devices,
      .requests, .events:
      ["GET", "HEAD"]
    case .faults: ["GET", "HEAD", "POST"]
    case .signIn, .importArchive, .reset: ["POST"]
    // The head alone would cost as much as all of it.
    case .exportArchive: ["GET"]
    }
  }
}
