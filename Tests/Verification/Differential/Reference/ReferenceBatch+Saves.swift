import CloudProtocol
import Records

/// The rules for a single save.
extension ReferenceBatch {
  /// The record that a save makes, or why it can't.
  ///
  /// Rules: CS-7 to CS-29 and CS-110 to CS-124 and CS-150 to CS-170.
  func outcome(of save: RecordSave) throws(CloudError) -> Record {
    try checkForm(of: save)
    try checkPlace(of: save)
    let stored = place.record(save.id.name)
    try checkVersion(of: save, stored)
    var record = stored ?? Record(id: save.id, type: save.type)
    if save.clearsOtherFields { record.fields = Fields() }
    for change in save.changes {
      var field = change.field
      if let value = field?.value { field?.value = try redeemed(value, change.key, save, stored) }
      record.fields[change.key] = field
    }
    if case .set(let parent) = save.parent { record.parent = parent }
    if save.type == ShareDetails.recordType {
      record.sharing = try settled(save, over: stored?.sharing)
    }
    return record
  }

  private func checkForm(of save: RecordSave) throws(CloudError) {
    if save.id.name.hasPrefix("_") { throw refusal(.invalidArguments) }
    let isWide = save.id.name == ShareDetails.zoneWideName
    guard save.type == ShareDetails.recordType else {
      if isWide || save.sharing != nil { throw refusal(.invalidArguments) }
      let isEncrypted = save.changes.contains { $0.field?.isEncrypted == true }
      if place.isPublic && isEncrypted { throw refusal(.invalidArguments) }
      return
    }
    if place.isPublic { throw refusal(.badDatabase) }
    if place.name == ZoneID.defaultName { throw refusal(.invalidArguments) }
    if let sharing = save.sharing, isWide != (sharing.root == nil) {
      throw refusal(.invalidArguments)
    }
  }

  /// Whether the asker may write here at all; a hidden record can't be overwritten.
  private func checkPlace(of save: RecordSave) throws(CloudError) {
    let name = save.id.name
    if zone[name] != nil && !place.sees(name) { throw refusal(.permissionFailure) }
    if save.type == ShareDetails.recordType {
      let isVisited = place.isVisit && place.record(name)?.sharing != nil
      if isVisited && !place.mayWrite(in: name) { throw refusal(.permissionFailure) }
      return
    }
    if let stored = place.record(name) {
      if let error = refusalOfChange(stored, isDeletion: false) { throw error }
    } else if place.isVisit, place.isWhole, !place.mayWrite(in: ShareDetails.zoneWideName) {
      throw refusal(.permissionFailure)
    }
  }

  /// Why the asker may not change or delete a record.
  ///
  /// Rules: CS-150 to CS-170.
  func refusalOfChange(_ stored: Record, isDeletion: Bool) -> CloudError? {
    if place.isPublic, place.plant != .anyCreator {
      return stored.created?.user == UserID(place.asker) ? nil : refusal(.permissionFailure)
    }
    guard place.isVisit else { return nil }
    let name = stored.id.name
    let share = place.isWhole ? ShareDetails.zoneWideName : place.zone.share(of: name)
    guard let share, place.mayWrite(in: share) else { return refusal(.permissionFailure) }
    let isRoot = zone[share]?.record.sharing?.root?.name == name
    return isDeletion && isRoot ? refusal(.permissionFailure) : nil
  }

  private func checkVersion(of save: RecordSave, _ stored: Record?) throws(CloudError) {
    // A share is only saved over the version it was made from.
    let policy =
      save.type == ShareDetails.recordType
      ? .ifServerRecordUnchanged : save.policy ?? request.policy
    if policy == .ifServerRecordUnchanged, place.plant != .staleTag {
      if stored == nil, save.changeTag != nil { throw refusal(.unknownItem) }
      if let stored, stored.changeTag != save.changeTag {
        throw refusal(.serverRecordChanged, of: stored)
      }
    }
    if let stored, stored.type != save.type { throw refusal(.invalidArguments) }
  }

  /// A value with its assets as they are kept: the record must hold them already, or there must be
  /// a receipt for this field.
  ///
  /// Rules: WS-83 to WS-86, CS-40.
  private func redeemed(
    _ value: FieldValue, _ key: String, _ save: RecordSave, _ stored: Record?
  ) throws(CloudError) -> FieldValue {
    guard case .asset(let asset) = value else { return value }
    for element in stored?.fields ?? Fields() {
      if case .asset(let held) = element.field.value, held.checksum == asset.checksum {
        return .asset(held)
      }
    }
    guard let receipt = asset.receipt else { throw refusal(.invalidArguments) }
    guard let upload = uploads[receipt] else { throw refusal(.assetNotAvailable) }
    guard upload.account == place.asker, upload.key == key, upload.type == save.type,
      upload.asset.checksum == asset.checksum
    else { throw refusal(.invalidArguments) }
    return .asset(upload.asset)
  }
}

/// A file that was uploaded, and for what.
struct ReferenceUpload {
  let account: String
  let type: String
  let key: String
  let asset: Asset
}
