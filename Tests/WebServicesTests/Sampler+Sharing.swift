import CloudProtocol
import Records
import VerificationSupport

/// Shares, people and zones; plain ones also keep these rules:
///
/// - a share's URL is that of the server asked, and its current participant is among the others;
/// - a person has an account when there is a name for it;
/// - an error's message is its own, but for a change token that is no good, and its code is one
///   that the service has a name for;
/// - only the owner of a share finds it in the own database;
/// - zones can do what their kind can.
extension Sampler {
  mutating func lookup() -> UserLookup {
    switch random.below(3) {
    case 0: .email(text())
    case 1: .phone(text())
    default: .user(UserID(text()))
    }
  }

  mutating func identity() -> UserIdentity {
    let user = random.maybe { _ in UserID("_person") }
    var identity = UserIdentity(
      user: user, givenName: maybeText(), familyName: maybeText(),
      hasAccount: isPlain ? user != nil : random.once(in: 2))
    if random.once(in: 2) { identity.lookup = lookup() }
    return identity
  }

  mutating func participant() -> ShareParticipant {
    ShareParticipant(
      id: text(), identity: identity(), role: random.one(of: ShareRole.allCases),
      permission: random.one(of: SharePermission.allCases),
      acceptance: random.one(of: ShareAcceptance.allCases))
  }

  mutating func sharing(_ zone: ZoneID) -> ShareDetails {
    var participants: [ShareParticipant] = []
    for _ in 0..<random.below(4) { participants.append(participant()) }
    var details = ShareDetails(
      root: random.once(in: 3) ? nil : recordID(in: zone),
      publicPermission: random.one(of: SharePermission.allCases), participants: participants)
    let urls = [ShareMetadata.urlPrefix + "0aBc", ShareMetadata.urlPrefix + "x_y-9"]
    let others = ["", "/", "https://example.com/a?b#c", "\u{E9}"]
    details.url = random.maybe { $0.one(of: urls) }
    details.currentParticipant = participants.first?.id
    guard !isPlain else { return details }
    if random.once(in: 2) { details.url = random.one(of: others) }
    if random.once(in: 3) { details.currentParticipant = maybeText() }
    return details
  }

  mutating func metadata() -> ShareMetadata {
    var share = record()
    while share.sharing == nil || share.type != ShareDetails.recordType { share = record() }
    let zone = share.id.zone
    let name = random.maybe { _ in "root" }
    let root = record()
    let roles = database == .shared ? [ShareRole.privateUser, .publicUser] : [.owner]
    return ShareMetadata(
      container: random.one(of: ["iCloud.test", "c"]), share: share,
      rootID: name.map { RecordID(name: $0, zone: zone) },
      root: random.once(in: 2) ? root : nil, owner: identity(),
      role: random.one(of: isPlain ? roles : ShareRole.allCases),
      acceptance: random.one(of: ShareAcceptance.allCases),
      permission: random.one(of: SharePermission.allCases))
  }

  mutating func zoneDescribed() -> Zone {
    let id = zone()
    var zone = Zone(id: id, capabilities: id.name == ZoneID.defaultName ? [] : .custom)
    if !isPlain { zone.capabilities = Zone.Capabilities(rawValue: UInt(random.below(40))) }
    if random.once(in: 3) { zone.share = recordID(in: id) }
    if random.once(in: 2) { zone.token = ChangeToken(bytes: bytes()) }
    return zone
  }

  mutating func error() -> CloudError {
    let plain: [CloudError.Code] = [
      .permissionFailure, .batchRequestFailed, .notAuthenticated, .invalidArguments,
      .serverRecordChanged, .internalError, .unknownItem, .quotaExceeded, .requestRateLimited,
      .serviceUnavailable, .referenceViolation, .zoneNotFound, .zoneBusy, .constraintViolation,
    ]
    var error = CloudError(
      random.one(of: isPlain ? plain : CloudError.Code.allCases), text())
    error.retryAfter = random.maybe { $0.one(of: [0, 1, 30, 3600]) }
    guard !isPlain else { return error }
    if random.once(in: 2) {
      error.retryAfter = random.one(of: [0.1, 1.5, 1e300, .leastNonzeroMagnitude, 60.001])
    }
    if random.once(in: 2) { error.serverRecord = record() }
    error.userDidResetEncryptedData = random.once(in: 4)
    return error
  }
}
