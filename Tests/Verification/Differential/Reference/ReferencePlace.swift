import CloudProtocol
import Records

/// A zone as one account may use it: in its own database, or as a visitor of another's.
struct ReferencePlace {
  /// The database that holds the zone.
  let home: String
  let zone: ReferenceZone
  let id: ZoneID
  let asker: String
  let isVisit: Bool
  let plant: Plant?

  var name: String { id.name }
  var isPublic: Bool { home == Device.publicHome }
  /// The shares through which a visitor sees the zone.
  var shares: [String] { zone.shares(seenBy: asker, plant) }
  var isWhole: Bool { !isVisit || shares.contains(ShareDetails.zoneWideName) }

  /// Whether the asker sees the record called `name`.
  func sees(_ name: String) -> Bool {
    isWhole || zone.share(of: name).map(shares.contains) ?? false
  }

  /// The record called `name`, where the asker sees it, in the owner's spelling.
  func record(_ name: String) -> Record? { sees(name) ? zone.records[name]?.record : nil }

  /// The names of all records that the asker sees.
  var seen: [String] { zone.records.keys.sorted().filter(sees) }

  /// Whether the asker, who visits, may write in the share.
  func mayWrite(in share: String) -> Bool {
    zone.records[share]?.record.sharing?.participants.contains {
      $0.identity.user == UserID(asker) && $0.acceptance == .accepted
        && $0.permission == .readWrite
    } ?? false
  }

  /// A record as the asker is told of it.
  ///
  /// Sources: Docs/Decisions/0016.
  func outward(_ record: Record) -> Record { worded(shown(record)) }

  /// A record as the asker sees it: what is above a root and the devices of others are hidden.
  ///
  /// Rules: CS-30 to CS-35, CS-169.
  func shown(_ record: Record) -> Record {
    var record = record
    let me = record.sharing?.participants.first { $0.identity.user == UserID(asker) }?.id
    record.sharing?.currentParticipant = me
    guard isVisit else { return record }
    let isRoot = shares.contains { zone.records[$0]?.record.sharing?.root == record.id }
    if isRoot { record.parent = nil }
    return record.respelled(ZoneID(name: name, owner: home), for: asker)
  }

  /// A record with the zone as it was asked for, and the asker by the name that stands for it.
  func worded(_ record: Record) -> Record {
    (record.id.zone == id ? record : record.respelled(id, for: nil)).worded(for: asker)
  }

  /// A save in the owner's spelling.
  func inward(_ save: RecordSave) -> RecordSave {
    let own = ZoneID(name: name)
    func spelled(_ id: RecordID) -> RecordID {
      id.zone.name == name && (id.zone == self.id || id.zone.owner == home)
        ? RecordID(name: id.name, zone: own) : id
    }
    var save = save
    save.id = spelled(save.id)
    if case .set(let parent?) = save.parent { save.parent = .set(spelled(parent)) }
    if let root = save.sharing?.root { save.sharing?.root = spelled(root) }
    for index in save.changes.indices {
      guard case .reference(var reference)? = save.changes[index].field?.value else { continue }
      reference.target = spelled(reference.target)
      save.changes[index].field?.value = .reference(reference)
    }
    return save
  }
}

extension Record {
  /// The record with the name that stands for the asker where the asker made or changed it.
  func worded(for asker: String) -> Record {
    var record = self
    if created?.user == UserID(asker) { record.created?.user = UserID(ZoneID.currentOwner) }
    if modified?.user == UserID(asker) { record.modified?.user = UserID(ZoneID.currentOwner) }
    return record
  }

  /// The record in `zone`, without the devices of other users than `asker`, if one is given.
  func respelled(_ zone: ZoneID, for asker: String?) -> Record {
    func spelled(_ id: RecordID) -> RecordID { RecordID(name: id.name, zone: zone) }
    var record = self
    record.id = spelled(id)
    record.parent = parent.map(spelled)
    record.share = share.map(spelled)
    record.sharing?.root = sharing?.root.map(spelled)
    for element in fields {
      guard case .reference(var reference) = element.field.value else { continue }
      reference.target = spelled(reference.target)
      record.fields[element.key]?.value = .reference(reference)
    }
    guard let asker else { return record }
    if created?.user != UserID(asker) { record.created?.device = nil }
    if modified?.user != UserID(asker) { record.modified?.device = nil }
    return record
  }
}

extension ReferenceCloud {
  /// The zone called `id`, as the asker may use it.
  ///
  /// Rules: CS-150 to CS-170, CS-34, CS-151.
  func place(_ id: ZoneID, _ ask: Ask) throws(CloudError) -> ReferencePlace {
    let isOwn = id.owner == ZoneID.currentOwner || id.owner == ask.account
    switch ask.scope {
    case .public:
      guard id.name == ZoneID.defaultName else { throw refusal(.badDatabase) }
      fallthrough
    case .private:
      let database = database(ask.home)
      guard isOwn else { throw refusal(.invalidArguments) }
      guard let zone = database.zones[id.name] else { throw database.missing(id) }
      return ReferencePlace(
        home: ask.home, zone: zone, id: id, asker: ask.account,
        isVisit: false, plant: plant)
    case .shared:
      guard !isOwn else { throw refusal(.invalidArguments) }
      let key = ReferenceVisit.Key(guest: ask.account, owner: id.owner, zone: id.name)
      guard visits[key]?.isThere == true, let zone = databases[id.owner]?.zones[id.name] else {
        throw refusal(.zoneNotFound)
      }
      return ReferencePlace(
        home: id.owner, zone: zone, id: id, asker: ask.account, isVisit: true, plant: plant)
    }
  }

  func zones(_ ids: [ZoneID]?, _ ask: Ask) -> [ItemResult<ZoneID, Zone>] {
    let all =
      ask.scope == .shared
      ? visits.filter { $0.key.guest == ask.account && $0.value.isThere }.map(\.key.id)
      : database(ask.home).zones.keys.map { ZoneID(name: $0) }
    return (ids ?? all.sorted()).map { id in
      do throws(CloudError) {
        let place = try place(id, ask)
        let wide = RecordID(name: ShareDetails.zoneWideName, zone: place.id)
        let isShared = place.isWhole && place.zone.records[wide.name] != nil
        return ItemResult(
          id: id,
          .success(
            Zone(
              id: place.id, capabilities: id.name == ZoneID.defaultName ? [] : .custom,
              share: isShared ? wide : nil)))
      } catch {
        return ItemResult(id: id, .failure(error))
      }
    }
  }
}
