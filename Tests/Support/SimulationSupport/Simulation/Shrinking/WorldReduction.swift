/// Something that can be taken away from what a world is like.
enum WorldReduction: CaseIterable, Sendable {
  case fewerDevices, oneAccount, oneZone, oneRecord
  case loss, answerLoss, doubling, pushLoss, delay
  case unavailable, throttled, refused, partial, clockJumps
  case crash, offline, account, administration, expiry, serverRestart, outage, quota
  case cancel, deleteZone, delete, manualFetch, manualSend

  /// Takes it away.
  func apply(to options: inout WorldOptions) {
    switch self {
    case .fewerDevices: options.deviceCount = max(1, options.deviceCount - 1)
    case .oneAccount: options.accountCount = 1
    case .oneZone: options.zoneCount = 1
    case .oneRecord: options.recordsPerZone = max(1, options.recordsPerZone / 2)
    case .loss: options.network.loss = 0
    case .answerLoss: options.network.answerLoss = 0
    case .doubling: options.network.doubling = 0
    case .pushLoss: options.network.pushLoss = 0
    case .delay: options.network.longestDelay = 1
    case .unavailable: options.server.unavailable = 0
    case .throttled: options.server.throttled = 0
    case .refused: options.server.refused = 0
    case .partial: options.server.partial = 0
    case .clockJumps: options.server.clockJump = 0
    case .crash: options.actions.crash = 0
    case .offline: options.actions.offline = 0
    case .account: options.actions.account = 0
    case .administration: options.actions.administration = 0
    case .expiry: options.actions.expiry = 0
    case .serverRestart: options.actions.serverRestart = 0
    case .outage: options.actions.outage = 0
    case .quota: options.actions.quota = 0
    case .cancel: options.actions.cancel = 0
    case .deleteZone: options.actions.deleteZone = 0
    case .delete: options.actions.delete = 0
    case .manualFetch: options.actions.manualFetch = 0
    case .manualSend: options.actions.manualSend = 0
    }
  }

  /// Whether taking it away again takes away more.
  var repeats: Bool { self == .fewerDevices || self == .oneRecord }
}
