import CloudProtocol
import Records

/// Validation of each save by itself.
extension RecordBatch {
  /// Validates every save by names, policy and size, in the order of the request.
  mutating func judgeEachSave() throws {
    var schema = Schema(context, knownTypes)
    let names = context.names
    for (index, item) in saves.enumerated() {
      var merged: Record
      // Later saves do not use the fields that a failed save would have added to its type.
      var extended = schema
      do {
        try Refusal.check(
          faultOfForm(item.save, names) ?? faultOfPlace(item) ?? faultOfVersion(item))
        try redeemAssets(of: &item.save, stored: item.stored)
        try Refusal.check(extended.fault(of: item.save))
        merged = merge(item.save, into: item.stored)
        if item.save.type == ShareDetails.recordType { merged.sharing = try settledSharing(item) }
      } catch let refusal as Refusal {
        item.error = refusal.error
        continue
      }
      item.merged = merged
      item.links = merged.links
      for link in item.links {
        holders[link.target, default: []].append((index, link.kind))
      }
      let byteCount = merged.byteCount
      item.growth =
        merged.storedByteCount(withoutFiles: byteCount) - (item.row?.record?.storedByteCount ?? 0)
      item.error = faultOfSize(byteCount)
      if item.error == nil { schema = extended }
    }
    // An existing record may contain fields that its type's row does not list.
    bringsTypes = schema.bringsNews || saves.contains { $0.stored != nil }
  }

  /// The error of an invalid save, regardless of the stored record.
  private func faultOfForm(_ save: RecordSave, _ names: NameRules) throws -> CloudError? {
    if let error = try faultOfName(save, names) { return error }
    let isShare = save.type == ShareDetails.recordType
    if isShare {
      if let error = faultOfShareForm(save) { return error }
    } else {
      // A save without a type refers to an existing record; the version check finds out whether it
      // exists.
      if !save.type.isEmpty || save.changeTag == nil,
        let error = names.faultOfRecordType(save.type)
      {
        return error
      }
      if save.sharing != nil || save.id.name == ShareDetails.zoneWideName {
        return CloudError(
          .invalidArguments, "only a record of type \(ShareDetails.recordType) can be a share")
      }
    }
    for change in save.changes where !(isShare && NameRules.shareKeys.contains(change.key)) {
      if let error = names.faultOfFieldKey(change.key) { return error }
    }
    for change in save.changes {
      guard let field = change.field else { continue }
      if let error = fault(of: field, change.key) { return error }
    }
    if case .set(let parent?) = save.parent, parent.zone != zone.id {
      return CloudError(.invalidArguments, "a parent must be in the same zone as its child")
    }
    return nil
  }

  private func fault(of field: Field, _ key: String) -> CloudError? {
    switch field.value {
    case .string, .int64, .double, .date, .bytes:
      if !field.isEncrypted { return nil }
    case .reference, .location, .asset, .list: break
    }
    if let fault = field.value.faultOfContent {
      return CloudError(.invalidArguments, "the field '\(key)' holds \(fault)")
    }
    if field.isEncrypted {
      if context.database.scope == .public {
        return CloudError(
          .invalidArguments, "the public database does not take encrypted values")
      }
      if field.value.mayRefer {
        return CloudError(.invalidArguments, "a reference can't be encrypted")
      }
    }
    if case .list(let values) = field.value {
      let kinds = Set(values.map(\.kind))
      if kinds.count > 1 || kinds.contains(.list) {
        return CloudError(.invalidArguments, "a list must hold values of one kind, and no lists")
      }
    }
    return field.value.refersOutside(zone.id)
      ? CloudError(.invalidArguments, "a reference must point into the same zone") : nil
  }

  /// The save rules by policy, stored record and tag; total over the three.
  ///
  /// Rules: CS-110 to CS-124.
  private func faultOfVersion(_ item: PendingSave) -> CloudError? {
    // The participants of a share are never overwritten without a version check.
    let policy =
      item.save.type == ShareDetails.recordType
      ? .ifServerRecordUnchanged : item.save.policy ?? policy
    switch (policy, item.stored, item.save.changeTag) {
    case (.ifServerRecordUnchanged, nil, nil): return nil
    case (.ifServerRecordUnchanged, nil, _?):
      return CloudError(
        .unknownItem, "the record was deleted; drop its change tag to create it again")
    case (.ifServerRecordUnchanged, let stored?, nil):
      guard (item.save.policy ?? self.policy) == .ifServerRecordUnchanged else {
        return CloudError(
          .serverRecordChanged,
          "a share is changed only with its change tag, also by operations that force: fetch it "
            + "and save it with its tag", serverRecord: stored)
      }
      return CloudError(
        .serverRecordChanged, "the record to insert already exists", serverRecord: stored)
    case (.ifServerRecordUnchanged, let stored?, let tag?):
      guard stored.changeTag == tag else {
        return CloudError(
          .serverRecordChanged,
          "the record was changed by another client; merge into the server record",
          serverRecord: stored)
      }
      return faultOfType(item.save, stored)
    case (.changedKeys, let stored?, _), (.allKeys, let stored?, _):
      return faultOfType(item.save, stored)
    case (.changedKeys, nil, _), (.allKeys, nil, _):
      guard item.save.type.isEmpty else { return nil }
      return CloudError(
        .unknownItem, "there is no such record; name its type to create it")
    }
  }

  private func faultOfType(_ save: RecordSave, _ stored: Record) -> CloudError? {
    guard save.type != stored.type else { return nil }
    return CloudError(.invalidArguments, "the record exists with another record type")
  }

  /// The stored record with the save's changes; other fields are kept.
  private func merge(_ save: RecordSave, into stored: Record?) -> Record {
    var record = stored ?? Record(id: save.id, type: save.type)
    if stored == nil, save.changes.allSatisfy({ $0.field != nil }) {
      // A new record's fields are mostly in order and are used as they are.
      record.fields = Fields(
        save.changes.compactMap { change in
          change.field.map { Fields.Element(key: change.key, field: $0) }
        })
      if case .set(let parent) = save.parent { record.parent = parent }
      return record
    }
    if save.clearsOtherFields { record.fields = Fields() }
    record.fields.apply(save.changes.map { (key: $0.key, field: $0.field) })
    if case .set(let parent) = save.parent, !hidesParent(of: stored) { record.parent = parent }
    return record
  }

  private func faultOfSize(_ byteCount: Int) -> CloudError? {
    guard byteCount > context.limits.recordBytes else { return nil }
    return CloudError(
      .limitExceeded,
      "record too large: \(byteCount) bytes, at most \(context.limits.recordBytes)")
  }

  /// Refuses the saves that exceed the owner's quota by growing the database, in the order of the
  /// request.
  ///
  /// Other saves are always allowed, and failed saves are not counted. In an atomic request, the
  /// deletions free quota for the saves.
  ///
  /// - Returns: whether a save was refused.
  @discardableResult
  func judgeQuota() -> Bool {
    guard let quota = access.owner?.quota else { return false }
    var spent = spent
    if isAtomic {
      for delete in deletes where delete.error == nil && !delete.leaves {
        spent -= delete.stored?.storedByteCount ?? 0
      }
    }
    var isExceeded = false
    for item in saves where item.merged != nil && item.error == nil {
      if item.growth > 0, spent + item.growth > quota {
        item.error = CloudError(
          .quotaExceeded, "the owner's storage is full; delete something or raise the quota")
        isExceeded = true
      } else {
        spent += item.growth
      }
    }
    return isExceeded
  }
}

extension FieldValue {
  /// A description of the invalid content; `nil` when the value is valid.
  fileprivate var faultOfContent: String? {
    switch self {
    case .reference(let reference):
      return reference.target.name.isEmpty ? "a reference to a record without a name" : nil
    case .location(let place):
      if !(-90.0...90).contains(place.latitude) {
        return "a latitude of \(place.latitude); it must be from -90 to 90"
      }
      if !(-180.0...180).contains(place.longitude) {
        return "a longitude of \(place.longitude); it must be from -180 to 180"
      }
      return nil
    case .list(let values): return values.lazy.compactMap(\.faultOfContent).first
    case .string, .int64, .double, .date, .bytes, .asset: return nil
    }
  }

  /// Whether the value refers to a record in a zone other than `zone`.
  fileprivate func refersOutside(_ zone: ZoneID) -> Bool {
    switch self {
    case .reference(let reference): reference.target.zone != zone
    case .list(let values): values.contains { $0.refersOutside(zone) }
    case .string, .int64, .double, .date, .bytes, .asset, .location: false
    }
  }
}
