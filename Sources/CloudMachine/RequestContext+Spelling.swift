import CloudProtocol
import Records

extension RequestContext {
  /// `zone` as rows spell it: the asking user's own name becomes `ZoneID.currentOwner`.
  func spelled(_ zone: ZoneID) -> ZoneID {
    guard let user = account?.user, zone.owner == user.rawValue else { return zone }
    return ZoneID(name: zone.name)
  }

  /// `id` as rows spell it.
  func spelled(_ id: RecordID) -> RecordID {
    RecordID(name: id.name, zone: spelled(id.zone))
  }

  /// `request` with every zone in it as rows spell it, those inside references too.
  func spelled(_ request: ModifyRecords) -> ModifyRecords {
    var request = request
    for index in request.save.indices where isSpelledOtherwise(request.save[index]) {
      spell(&request.save[index])
    }
    for index in request.delete.indices { request.delete[index] = spelled(request.delete[index]) }
    for (id, tag) in request.deleteTags where spelled(id) != id {
      request.deleteTags[id] = nil
      request.deleteTags[spelled(id)] = tag
    }
    return request
  }

  /// Whether `spell` might change something; most saves are in rows' spelling as they come, and
  /// writing to one copies all of them.
  private func isSpelledOtherwise(_ save: RecordSave) -> Bool {
    guard let user = account?.user.rawValue else { return false }
    if save.id.zone.owner == user || save.sharing != nil { return true }
    if case .set(_?) = save.parent { return true }
    return save.changes.contains { $0.field?.value.mayRefer ?? false }
  }

  private func spell(_ save: inout RecordSave) {
    save.id = spelled(save.id)
    if case .set(let parent?) = save.parent { save.parent = .set(spelled(parent)) }
    if let root = save.sharing?.root { save.sharing?.root = spelled(root) }
    for index in save.changes.indices {
      guard let value = save.changes[index].field?.value, value.mayRefer else { continue }
      save.changes[index].field?.value = spelled(value)
    }
  }

  /// `value` with the zones of its references as rows spell them.
  func spelled(_ value: FieldValue) -> FieldValue {
    switch value {
    case .reference(var reference):
      reference.target = spelled(reference.target)
      return .reference(reference)
    case .list(let values): return .list(values.map { spelled($0) })
    case .string, .int64, .double, .date, .bytes, .asset, .location: return value
    }
  }
}

extension FieldValue {
  /// Whether there may be a reference in it.
  var mayRefer: Bool {
    switch self {
    case .reference: true
    case .list(let values): values.contains { $0.mayRefer }
    case .string, .int64, .double, .date, .bytes, .asset, .location: false
    }
  }
}
