package import CloudProtocol
package import Records
import Synchronization

extension CKRecord {
  /// The request to save this record under `policy`.
  ///
  /// The changed fields, or with `allKeys` all fields, including the removed ones. See CS-107 and
  /// CS-112 to CS-116.
  package func pendingSave(
    policy: SavePolicy = .ifServerRecordUnchanged
  ) -> RecordSave {
    let sharing = sharingToSave
    return state.withLock { state in
      // Piece by piece: a record taken out of the state would be copied with all it holds.
      var sendsParent = state.isParentChanged
      let changes: [RecordSave.Change]
      switch policy {
      case .ifServerRecordUnchanged, .changedKeys:
        changes = CKRecord.changes(of: state.changedKeys, in: state.record.fields)
      case .allKeys:
        let keys = state.changedKeys.union(state.record.fields.keys)
        changes = CKRecord.changes(of: keys, in: state.record.fields)
        sendsParent = sendsParent || state.record.parent != nil
      }
      var save = RecordSave(
        id: state.record.id, type: state.record.type, changeTag: state.record.changeTag,
        changes: changes, parent: sendsParent ? .set(state.record.parent) : .keep,
        sharing: sharing)
      if let first = state.oversized.min(by: { $0.key < $1.key }) {
        save.deviceFault = first.value.fault(ofField: first.key)
      }
      return save
    }
  }

  /// The record's name, and what `pendingSave()` would count toward the size limits, in bytes.
  var pendingSize: (id: RecordID, byteCount: Int) {
    state.withLock { state in
      let (id, fields) = (state.record.id, state.record.fields)
      var count = id.name.utf8.count + state.record.type.utf8.count
      var missing = state.changedKeys.count
      for element in fields where state.changedKeys.contains(element.key) {
        count += element.key.utf8.count + element.field.value.byteCount
        missing -= 1
      }
      if missing > 0 {
        for key in state.changedKeys where fields[key] == nil { count += key.utf8.count }
      }
      return (id, count)
    }
  }

  /// The fields called `keys` as they are in `fields`, in the order of their names.
  ///
  /// Fields are in that order already; only where some are gone the names have to be sorted.
  private static func changes(of keys: Set<String>, in fields: Fields) -> [RecordSave.Change] {
    var changes: [RecordSave.Change] = []
    changes.reserveCapacity(keys.count)
    for element in fields where keys.contains(element.key) {
      changes.append(RecordSave.Change(key: element.key, field: element.field))
    }
    guard changes.count < keys.count else { return changes }
    return keys.sorted().map { RecordSave.Change(key: $0, field: fields[$0]) }
  }

  /// Applies the server's reply to `save`: `saved` is the server's version of the record.
  ///
  /// Fields that the app changed during the request keep the app's value and stay
  /// marked as changed, so that the next save sends them. What the app changed in a share meanwhile
  /// is kept, too.
  package func didSave(_ saved: Record, of save: RecordSave) {
    let sharing = sharingToSave
    state.withLock { state in
      for change in save.changes where state.record.fields[change.key] == change.field {
        state.changedKeys.remove(change.key)
      }
      if case .set(let parent) = save.parent, parent == state.record.parent {
        state.isParentChanged = false
      }
      var merged = saved
      for key in state.changedKeys { merged.fields[key] = state.record.fields[key] }
      if state.isParentChanged { merged.parent = state.record.parent }
      if let sent = save.sharing, let sharing, sent != sharing {
        merged.sharing?.take(changesFrom: sent, to: sharing)
      }
      state.record = merged
      state.base = saved.fields
    }
  }

  /// The record as it was last fetched or saved; `nil` if it never was.
  package var ancestor: CKRecord? {
    state.withLock { state in
      guard let base = state.base else { return nil }
      var record = state.record
      record.fields = base
      return CKRecord.face(of: record)
    }
  }
}

extension ShareDetails {
  /// Takes over what differs between `earlier` and `later`.
  fileprivate mutating func take(changesFrom earlier: ShareDetails, to later: ShareDetails) {
    if later.publicPermission != earlier.publicPermission {
      publicPermission = later.publicPermission
    }
    participants.removeAll { person in
      earlier.participants.contains(where: person.isSamePerson)
        && !later.participants.contains(where: person.isSamePerson)
    }
    for person in later.participants where !earlier.participants.contains(person) {
      if let index = participants.firstIndex(where: person.isSamePerson) {
        participants[index].role = person.role
        participants[index].permission = person.permission
      } else {
        participants.append(person)
      }
    }
  }
}
