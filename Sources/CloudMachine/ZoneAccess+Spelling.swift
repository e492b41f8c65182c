import CloudProtocol
import Records

/// The spelling of zones on both sides of a share: in the owner's rows the owner is
/// `ZoneID.currentOwner`, for viewers a user record name.
extension ZoneAccess {
  /// `zone` in the spelling of the owner's rows.
  func inward(_ zone: ZoneID) -> ZoneID {
    guard isShared, let owner else { return zone }
    if zone.owner == owner.user.rawValue { return ZoneID(name: zone.name) }
    if zone.owner == ZoneID.currentOwner, let requester {
      return ZoneID(name: zone.name, owner: requester.user.rawValue)
    }
    return zone
  }

  /// `id` in the spelling of the owner's rows.
  func inward(_ id: RecordID) -> RecordID { RecordID(name: id.name, zone: inward(id.zone)) }

  /// Change tags by record IDs in the spelling of the owner's rows.
  func inward(_ tags: [RecordID: ChangeTag]) -> [RecordID: ChangeTag] {
    Dictionary(tags.map { (inward($0.key), $0.value) }) { first, _ in first }
  }

  /// `save` in the spelling of the owner's rows.
  func inward(_ save: RecordSave) -> RecordSave {
    guard isShared else { return save }
    var save = save
    save.respell { inward($0) }
    return save
  }

  /// `zone` of the owner's rows in the requester's spelling.
  func outward(_ zone: ZoneID) -> ZoneID {
    guard isShared, zone.owner == ZoneID.currentOwner else { return zone }
    return ZoneID(name: zone.name, owner: id.owner)
  }

  /// `id` of the owner's rows in the requester's spelling.
  func outward(_ id: RecordID) -> RecordID { RecordID(name: id.name, zone: outward(id.zone)) }

  /// A record of the owner's rows in the requester's spelling.
  ///
  /// The parent of a root is not shared, so a viewer does not learn its name.
  func outward(_ record: Record) -> Record {
    var outward = record
    if let owner, isShared {
      outward = record.outward(owner: owner.user, requester: requester?.user)
      if roots.contains(record.id) { outward.parent = nil }
    }
    outward.sharing?.point(at: requester?.user)
    return outward
  }

  /// An error about a record of the owner's rows in the requester's spelling.
  func outward(_ error: CloudError) -> CloudError {
    var error = error
    error.serverRecord = error.serverRecord.map { outward($0) }
    return error
  }

  /// The outcome of a batch in the requester's spelling.
  func outward(_ outcome: RecordBatch.Outcome) -> RecordBatch.Outcome {
    var outcome = outcome
    for index in outcome.saved.indices {
      switch outcome.saved[index] {
      case .success(let record):
        // In the requester's own zone only the current participant of a share differs.
        if !isShared && record.sharing == nil { continue }
        outcome.saved[index] = .success(outward(record))
      case .failure(let error): outcome.saved[index] = .failure(outward(error))
      }
    }
    return outcome
  }
}

extension ShareDetails {
  /// Sets the current participant to the one that is `user`.
  mutating func point(at user: UserID?) {
    currentParticipant = participants.first { user != nil && $0.identity.user == user }?.id
  }
}

extension Record {
  /// A record of `owner`'s rows in the spelling of `requester`, another user.
  ///
  /// The names of other users' devices are omitted.
  func outward(owner: UserID, requester: UserID?) -> Record {
    var record = self
    record.respell {
      guard $0.zone.owner == ZoneID.currentOwner else { return $0 }
      return RecordID(name: $0.name, zone: ZoneID(name: $0.zone.name, owner: owner.rawValue))
    }
    if created?.user != requester { record.created?.device = nil }
    if modified?.user != requester { record.modified?.device = nil }
    return record
  }

  /// Names the record and every record that it refers to by `spell`.
  mutating func respell(_ spell: (RecordID) -> RecordID) {
    id = spell(id)
    parent = parent.map(spell)
    share = share.map(spell)
    if let root = sharing?.root { sharing?.root = spell(root) }
    for element in fields where element.field.value.mayRefer {
      fields[element.key]?.value = element.field.value.respelled(spell)
    }
  }
}

extension RecordSave {
  /// Names the record and every record that it refers to by `spell`.
  mutating func respell(_ spell: (RecordID) -> RecordID) {
    id = spell(id)
    if case .set(let parent?) = parent { self.parent = .set(spell(parent)) }
    if let root = sharing?.root { sharing?.root = spell(root) }
    for index in changes.indices {
      guard let value = changes[index].field?.value, value.mayRefer else { continue }
      changes[index].field?.value = value.respelled(spell)
    }
  }
}

extension FieldValue {
  /// The value with every record that it refers to named by `spell`.
  func respelled(_ spell: (RecordID) -> RecordID) -> FieldValue {
    switch self {
    case .reference(var reference):
      reference.target = spell(reference.target)
      return .reference(reference)
    case .list(let values): return .list(values.map { $0.respelled(spell) })
    case .string, .int64, .double, .date, .bytes, .asset, .location: return self
    }
  }
}
