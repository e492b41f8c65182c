import CloudProtocol
import CloudSync
import Foundation
import Records

/// Records, changes and errors as snapshots spell them: the same for the same value everywhere.
enum CanonicalText {
  static func zone(_ zone: ZoneID) -> String {
    zone.owner == ZoneID.currentOwner ? part(zone.name) : "\(part(zone.owner))/\(part(zone.name))"
  }

  static func zone(_ zone: CKRecordZone.ID) -> String { self.zone(zone.value) }

  static func record(_ record: RecordID) -> String {
    "\(zone(record.zone))/\(part(record.name))"
  }

  static func record(_ record: CKRecord.ID) -> String { self.record(record.value) }

  /// The record's type and name, with a line for each field.
  static func record(_ record: Record, indent: String) -> [String] {
    var lines = ["\(indent)\(part(record.type)) \(self.record(record.id))"]
    for element in record.fields {
      let mark = element.field.isEncrypted ? " (encrypted)" : ""
      lines.append("\(indent)  \(part(element.key))\(mark): \(value(element.field.value))")
    }
    if let parent = record.parent { lines.append("\(indent)  parent -> \(self.record(parent))") }
    if record.sharing != nil { lines.append("\(indent)  is a share") }
    return lines
  }

  static func value(_ value: FieldValue) -> String {
    switch value {
    case .string(let text): quoted(text)
    case .int64(let number): String(number)
    case .double(let number): String(number)
    case .date(let time): date(time)
    case .bytes(let bytes): count(bytes.count, "byte") + " " + checksum(bytes)
    case .reference(let reference): "-> \(record(reference.target))"
    case .asset(let asset): "file of \(count(asset.size, "byte")) \(asset.checksum.prefix(8))"
    case .location(let place): "(\(place.latitude), \(place.longitude))"
    case .list(let values): "[" + values.map(self.value).joined(separator: ", ") + "]"
    }
  }

  static func batch(_ batch: CKSyncEngine.RecordZoneChangeBatch?) -> String {
    guard let batch else { return "batch: nothing" }
    let saves = batch.recordsToSave.flatMap { record in
      var lines = CanonicalText.record(record.value, indent: "  ")
      lines[0] = "  save " + lines[0].dropFirst(2)
      return lines
    }
    let deletions = batch.recordIDsToDelete.map { "  delete \(record($0))" }
    let head = batch.atomicByZone ? "batch, atomic by zone" : "batch"
    return ([head] + saves + deletions).joined(separator: "\n")
  }

  static func error(_ error: CKError) -> String { "\(error.code)" }

  /// ISO 8601 with milliseconds, or the bare seconds where a calendar has no such date.
  private static func date(_ time: Timestamp) -> String {
    let seconds = time.secondsSinceReferenceDate
    guard seconds.isFinite, seconds.magnitude < 1e11 else { return "date \(seconds)" }
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    return Date(timeIntervalSinceReferenceDate: seconds).formatted(style)
  }

  private static func checksum(_ bytes: [UInt8]) -> String {
    var sum: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(sum, radix: 16)
  }

  static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
  }

  /// A name, in quotation marks where it could be taken for something else.
  static func part(_ name: String) -> String {
    let isPlain = name.unicodeScalars.allSatisfy { scalar in
      scalar.value > 0x20 && scalar.value != 0x7f && scalar != "/" && scalar != "\""
    }
    return isPlain && !name.isEmpty ? name : quoted(name)
  }

  static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case _ where scalar.value < 0x20 || scalar.value == 0x7f:
        quoted += "\\u{\(String(scalar.value, radix: 16))}"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
