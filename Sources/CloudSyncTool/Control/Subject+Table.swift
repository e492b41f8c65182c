import CommandLineKit
import Foundation
import WebServices

extension Subject {
  /// The entries of a response as a table.
  func table(of entries: [JSON]) -> Table {
    let columns = columns
    var table = Table(columns.map(\.column))
    for entry in entries { table.add(columns.map { $0.text(entry) }) }
    return table
  }

  private struct Column {
    var column: Table.Column
    var text: (JSON) -> String

    /// A column with the values at `path`; one that yields is shortened.
    init(
      _ title: String, _ path: String..., isNumeric: Bool = false, yields: Bool = false,
      isDetail: Bool = false
    ) {
      self.init(title, isNumeric: isNumeric, yields: yields, isDetail: isDetail) { entry in
        path.reduce(Optional(entry)) { $0?[$1] }.map(plainText) ?? ""
      }
    }

    init(
      _ title: String, isNumeric: Bool = false, yields: Bool = false, isDetail: Bool = false,
      _ text: @escaping (JSON) -> String
    ) {
      column = Table.Column(
        title, isNumeric ? .number : yields ? .text : .words, isDetail: isDetail)
      self.text = text
    }
  }

  private var columns: [Column] {
    switch self {
    case .accounts:
      [
        Column("account", "account"),
        Column("user record name", "userRecordName", yields: true, isDetail: true),
        Column("quota", isNumeric: true) { bytes($0["quota"]) },
      ]
    case .databases:
      [
        Column("container", "container"), Column("environment", "environment"),
        Column("database", "scope"), Column("account", "account"),
        Column("size", isNumeric: true, isDetail: true) { bytes($0["byteCount"]) },
      ]
    case .zones:
      [Column("zone", "zoneID", "zoneName"), Column("owner", "zoneID", "ownerRecordName")]
    case .records:
      [
        Column("record", "recordName"), Column("type", "recordType", yields: true),
        Column("tag", "recordChangeTag", isDetail: true),
        Column("modified", isDetail: true) { time($0["modified"]?["timestamp"]) },
        Column("device", "modified", "deviceID", yields: true, isDetail: true),
        Column("fields", yields: true) { fields($0["fields"]) },
      ]
    case .changes:
      [
        Column("number", "sequence", isNumeric: true), Column("record", "recordName"),
        Column("type", "recordType", yields: true, isDetail: true),
        Column("change") { $0["deleted"]?.bool == true ? "deleted" : "saved" },
        Column("tag", "recordChangeTag", isDetail: true),
        Column("device", "device", yields: true, isDetail: true),
      ]
    case .subscriptions:
      [
        Column("subscription", "subscriptionID"), Column("kind", "subscriptionType"),
        Column("zone", "zoneID", "zoneName", yields: true),
        Column("record type", "query", "recordType", yields: true, isDetail: true),
        Column("fires on", yields: true, isDetail: true) {
          ($0["firesOn"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
        },
      ]
    case .schema:
      [
        Column("record type", "recordType"),
        Column("fields", yields: true) {
          ($0["fields"]?.array ?? []).map(fieldOfSchema).joined(separator: ", ")
        },
      ]
    case .devices:
      [
        Column("device", "name"), Column("account", "account"),
        Column("availability", "availability", isDetail: true),
        Column("network") { $0["online"]?.bool == false ? "offline" : "online" },
        Column("listening", isDetail: true) { $0["listening"]?.bool == true ? "yes" : "no" },
        Column("waiting pushes", "waitingPushes", isNumeric: true, isDetail: true),
      ]
    case .requests:
      [
        Column("number", "number", isNumeric: true),
        Column("time", isDetail: true) { time($0["time"]) },
        Column("device", "device", yields: true), Column("account", "account", yields: true),
        Column("container", "container", yields: true, isDetail: true),
        Column("database", "database", isDetail: true),
        Column("request", "kind"), Column("items", "itemCount", isNumeric: true),
        Column("outcome") { plainText($0["code"] ?? $0["outcome"] ?? .null) },
      ]
    }
  }
}

/// A value as text.
private func plainText(_ value: JSON) -> String {
  switch value {
  case .string(let text): text
  case .null: ""
  case .bool, .integer, .number, .array, .object: value.text
  }
}

private func bytes(_ value: JSON?) -> String {
  value?.integer.map { size(Int($0)) } ?? ""
}

/// A time in milliseconds since 1970, in UTC.
func time(_ value: JSON?) -> String {
  guard let milliseconds = value?.integer else { return "" }
  // Add half a millisecond, because the formatter truncates.
  return timestamp(Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1000))
}

/// A field of a record type: `title string (queryable, sortable)`.
private func fieldOfSchema(_ field: JSON) -> String {
  let indexes = (field.members?.elements ?? []).filter { $0.value.bool == true }.map(\.name)
  let type = field["kind"]?.string.map { " \($0)" } ?? ""
  return (field["name"]?.string ?? field["fieldName"]?.string ?? "") + type
    + (indexes.isEmpty ? "" : " (\(indexes.joined(separator: ", ")))")
}

/// A summary of fields: `title="Milk" count=3`.
private func fields(_ value: JSON?) -> String {
  (value?.members?.elements ?? []).map { "\($0.name)=\(fieldText($0.value))" }
    .joined(separator: " ")
}

/// The beginning of a text, which may be long.
private func excerpt(_ text: String) -> String {
  let start = text.prefix(100)
  return start.endIndex == text.endIndex ? "\"\(start)\"" : "\"\(start)…\""
}

private func fieldText(_ field: JSON) -> String {
  if field["isEncrypted"]?.bool == true { return "(encrypted)" }
  switch (field["type"]?.string, field["value"]) {
  case ("STRING", .string(let text)?): return excerpt(text)
  case ("BYTES", .string(let text)?): return size(text.utf8.count / 4 * 3)
  case ("TIMESTAMP", let value?): return time(value)
  case ("REFERENCE", let value?): return "-> " + (value["recordName"]?.string ?? "")
  case ("ASSETID", let value?): return "file of " + bytes(value["size"])
  case (_, .array(let values)?): return "[\(values.count)]"
  case (_, let value?): return plainText(value)
  case (_, nil): return ""
  }
}
