import CloudSync
import Foundation

/// Records as bytes, for comparison.
struct RecordTable: Equatable {
  /// The fields of each record as bytes, by type and name of the record.
  private(set) var rows: [String: [UInt8]] = [:]

  init(_ records: [CKRecord] = []) {
    for record in records { add(record) }
  }

  /// A table of items that are not one record each, with their content, which must be equal on
  /// other devices.
  init(_ items: [(name: String, text: String)]) {
    for item in items { rows[item.name] = Array(item.text.utf8) }
  }

  mutating func add(_ record: CKRecord) {
    var bytes: [UInt8] = []
    for key in record.allKeys() {
      bytes += Array("\(key)=".utf8)
      switch record[key] {
      case let text as String: bytes += Array(text.utf8)
      case let data as Data: bytes += Array(data)
      case let date as Date:
        // Compared to the bit, not as text.
        bytes += Array("\(date.timeIntervalSinceReferenceDate.bitPattern)".utf8)
      case let asset as CKAsset:
        bytes += asset.fileURL.flatMap { FileManager.default.contents(atPath: $0.path) } ?? Data()
      case let number as NSNumber: bytes += Array(number.stringValue.utf8)
      case let value: bytes += Array("\(String(describing: value))".utf8)
      }
      bytes.append(0)
    }
    rows["\(record.recordType)/\(record.recordID.recordName)"] = bytes
  }

  func only(_ types: [String]) -> RecordTable {
    var table = RecordTable()
    table.rows = rows.filter { row in types.contains { row.key.hasPrefix($0 + "/") } }
    return table
  }

  /// The names of the records that differ.
  func differences(_ other: RecordTable) -> [String] {
    Set(rows.keys).union(other.rows.keys).filter { rows[$0] != other.rows[$0] }.sorted()
  }
}

extension Cloud {
  /// All records of `account` on the server, fetched by a new device.
  func records(of account: String) async throws -> RecordTable {
    let auditor = device("auditor-of-\(account)", account: account)
    let database = auditor.container.privateCloudDatabase
    var table = RecordTable()
    for zone in try await database.allRecordZones() where zone.zoneID != .default {
      var token: CKServerChangeToken?
      var isMore = true
      while isMore {
        let page = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: token)
        for result in page.modificationResultsByID.values { table.add(try result.get().record) }
        (token, isMore) = (page.changeToken, page.moreComing)
      }
    }
    return table
  }
}
