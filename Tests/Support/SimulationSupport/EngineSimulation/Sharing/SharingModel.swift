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

  let layout: WorldLayout
  /// The share of each zone.
  var shares: [Share?]
  /// The number of times that each account joined each zone, by account and zone.
  private(set) var lives: [[Int]]
  /// Whether each account is in each zone.
  private(set) var isMounted: [[Bool]]
  /// When each account last came into each zone, and what it sees of it last changed, by the
  /// oracle's clock; 0 for never.
  private(set) var joinedAt: [[Int]]
  private(set) var changedAt: [[Int]]
  /// A number over what each account sees of each zone; 0 for nothing.
  private var held: [[UInt64]]
  /// The number of times that each outcome happened, for the tally.
  var counts: [String: Int] = [:]
  /// The places that each account ever saw.
  var seen: [Set<Int>]
  var views: [ChangeToken: View] = [:]

  init(layout: WorldLayout) {
    self.layout = layout
    shares = Array(repeating: nil, count: layout.zones.count)
    lives = layout.users.map { _ in Array(repeating: 0, count: layout.zones.count) }
    (joinedAt, changedAt) = (lives, lives)
    held = layout.users.map { _ in Array(repeating: 0, count: layout.zones.count) }
    isMounted = layout.users.map { _ in Array(repeating: false, count: layout.zones.count) }
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
  func mounts(_ zone: Int, _ account: Int) -> Bool { isMounted[account - 1][zone] }

  /// Counts who came into which zone, after a share was changed at `time`.
  mutating func noteMembers(at time: Int) {
    for account in 1...layout.users.count {
      for zone in layout.zones.indices {
        let isIn = participant(account, in: zone) != nil
        if isIn, !isMounted[account - 1][zone] {
          lives[account - 1][zone] += 1
          joinedAt[account - 1][zone] = time
        }
        isMounted[account - 1][zone] = isIn
      }
    }
  }

  /// Takes in what `account` sees of `zone` at `time`.
  mutating func note(_ contents: UInt64, of zone: Int, for account: Int, at time: Int) {
    guard held[account - 1][zone] != contents else { return }
    held[account - 1][zone] = contents
    changedAt[account - 1][zone] = time
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

  /// `zone` as its owner spells it.
  func inward(_ zone: ZoneID) -> ZoneID {
    zone.owner == layout.users[SharingOptions.owner - 1].rawValue ? ZoneID(name: zone.name) : zone
  }

  /// `id` as its owner spells it.
  func inward(_ id: RecordID) -> RecordID { RecordID(name: id.name, zone: inward(id.zone)) }

  /// `record` without what differs between those who see it.
  func plain(_ record: Record) -> Record {
    var plain = record
    plain.id = inward(record.id)
    plain.parent = record.parent.map { inward($0) }
    plain.share = nil
    plain.created?.device = nil
    plain.modified?.device = nil
    return plain
  }
}
