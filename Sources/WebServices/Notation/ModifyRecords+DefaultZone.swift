import CloudProtocol
import Records

extension ModifyRecords {
  /// Whether some changes are of the default zone, whose changes CloudKit performs one by one.
  var concernsDefaultZone: Bool {
    save.contains { $0.id.zone == .default } || delete.contains { $0.zone == .default }
  }
}
