import CloudMachine
import CloudProtocol
import Records

/// A zone as a dictionary: what it must hold, worked out the slow and obvious way.
struct ReferenceModel {
  struct Entry: Equatable {
    var tag: String
    var fields: Fields
    var parent: String?
    var owner: String?
  }

  var entries: [String: Entry] = [:]

  /// What a save must come to when it stands alone.
  func verdict(on save: RecordSave, _ policy: SavePolicy) -> CloudError.Code? {
    guard policy == .ifServerRecordUnchanged else { return nil }
    guard let entry = entries[save.id.name] else {
      return save.changeTag == nil ? nil : .unknownItem
    }
    return save.changeTag?.rawValue == entry.tag ? nil : .serverRecordChanged
  }

  /// The zone after all of `request`, or `nil` when not all of it can be done.
  ///
  /// Tags of saved records are left empty.
  func after(_ request: ModifyRecords) -> ReferenceModel? {
    var next = self
    for save in request.save {
      guard verdict(on: save, request.policy) == nil else { return nil }
      var entry = next.entries[save.id.name] ?? Entry(tag: "", fields: Fields())
      for change in save.changes { entry.fields[change.key] = change.field }
      if case .set(let parent) = save.parent { entry.parent = parent?.name }
      entry.owner = entry.fields["owner0"]?.value.target
      entry.tag = ""
      next.entries[save.id.name] = entry
    }
    for id in request.delete { next.entries[id.name] = nil }
    let saved = Set(request.save.map(\.id.name))
    while let orphan = next.entries.first(where: { _, entry in
      entry.owner.map { next.entries[$0] == nil } ?? false
    }) {
      if saved.contains(orphan.key) { return nil }
      next.entries[orphan.key] = nil
    }
    let isWhole = next.entries.values.allSatisfy { entry in
      entry.parent.map { next.entries[$0] != nil } ?? true
    }
    return isWhole ? next : nil
  }
}

extension FieldValue {
  var target: String? {
    if case .reference(let reference) = self { reference.target.name } else { nil }
  }
}

/// A device that keeps what the feed tells it, as an engine would.
struct Mirror {
  let caller: Caller
  var token: ChangeToken?
  var records: [String: Record] = [:]

  init(_ caller: Caller) { self.caller = caller }

  /// Takes one page; whether more is to come, or what the cloud said instead.
  mutating func step(_ world: World, limit: Int?) throws -> Result<Bool, CloudError> {
    if token == nil { records = [:] }
    let request = FetchZoneChanges(zone: World.zone, since: token, limit: limit)
    switch try world.ask(.fetchZoneChanges(request), as: caller).result {
    case .failure(let error):
      token = nil
      records = [:]
      return .failure(error)
    case .success(.zoneChanges(let page)):
      for record in page.modified { records[record.id.name] = record }
      for deletion in page.deleted { records[deletion.id.name] = nil }
      token = page.token
      return .success(page.moreComing)
    case .success: throw Unexpected()
    }
  }
}
