import CloudProtocol
import Records

/// The expected shares of a world, derived from requests and replies.
struct SharingModel {
  /// The share of one zone.
  struct Share {
    /// The record as the server answered it last, as its owner spells it.
    var record: Record
    var details: ShareDetails
  }

  /// The records and zones that the holder of a token has received.
  struct View {
    var account: Int
    var scope: DatabaseScope
    /// The zone, or `nil` for the list of zones.
    var zone: Int?
    var life = 0
    /// The version of each record, by its place.
    var records: [Int: ChangeTag] = [:]
    /// A hash of each zone's contents when it was listed.
    var zones: [Int: UInt64] = [:]
  }

  /// One account in one zone of the owner.
  struct Visit {
    /// The number of times that the account joined the zone.
    var lives = 0
    var isMounted = false
    /// When it last joined, and when what it sees last changed, by the oracle's clock; 0 for never.
    var (joinedAt, changedAt) = (0, 0)
    /// A number over what it sees; 0 for nothing.
    fileprivate var held: UInt64 = 0
  }

  let layout: WorldLayout
  /// Converts names of others to those of the zones' owner.
  let inward: ZoneSpelling
  /// The share of each zone.
  var shares: [Share?]
  /// The visits of each account, by zone.
  private(set) var visits: [[Visit]]
  /// The number of times that each outcome happened, for the tally.
  var counts: [String: Int] = [:]
  /// The places that each account ever saw.
  var seen: [Set<Int>]
  var views: [ChangeToken: View] = [:]

  init(layout: WorldLayout) {
    self.layout = layout
    shares = Array(repeating: nil, count: layout.zones.count)
    inward = ZoneSpelling(user: layout.users[SharingOptions.owner - 1])
    visits = layout.users.map { _ in Array(repeating: Visit(), count: layout.zones.count) }
    seen = layout.users.map { _ in [] }
  }

  /// The participant that `account` is in the share of `zone`, if it has accepted and may read.
  func participant(_ account: Int, in zone: Int) -> ShareParticipant? {
    shares[zone]?.details.participants.first {
      $0.identity.user == layout.users[account - 1] && $0.role != .owner
        && $0.acceptance == .accepted
        && ($0.permission == .readOnly || $0.permission == .readWrite)
    }
  }

  /// Whether `account` may write into what it sees of `zone`.
  func mayWrite(_ account: Int, in zone: Int) -> Bool {
    participant(account, in: zone)?.permission == .readWrite
  }

  /// Whether `account` sees something of `zone` in its shared database.
  func mounts(_ zone: Int, _ account: Int) -> Bool {
    visits[account - 1][zone].isMounted
  }

  /// Counts who came into which zone, after a share was changed at `time`.
  mutating func noteMembers(at time: Int) {
    for account in 1...layout.users.count {
      for zone in layout.zones.indices {
        let isIn = participant(account, in: zone) != nil
        if isIn, !visits[account - 1][zone].isMounted {
          visits[account - 1][zone].lives += 1
          visits[account - 1][zone].joinedAt = time
        }
        visits[account - 1][zone].isMounted = isIn
      }
    }
  }

  /// Takes in what `account` sees of `zone` at `time`.
  mutating func note(_ contents: UInt64, of zone: Int, for account: Int, at time: Int) {
    guard visits[account - 1][zone].held != contents else { return }
    visits[account - 1][zone].held = contents
    visits[account - 1][zone].changedAt = time
  }

  /// Counts what became of a participant's change.
  mutating func count(_ change: String, _ error: CloudError?) {
    counts["\(change): \(error.map { "\($0.code)" } ?? "done")", default: 0] += 1
  }

  /// The zone of the share called `id`, as its owner spells it.
  func zone(ofShare id: RecordID) -> Int? {
    guard let zone = layout.number(of: id.zone), layout.share(of: zone).name == id.name else {
      return nil
    }
    return zone
  }

  /// `record` without what differs between those who see it.
  func plain(_ record: Record) -> Record {
    var plain = record
    plain.id = inward.plain(record.id)
    plain.parent = record.parent.map { inward.plain($0) }
    plain.share = nil
    plain.created?.device = nil
    plain.modified?.device = nil
    return plain
  }
}
