import WebServices

/// Values that make readers stumble.
enum HostileValues {
  static let texts: [String] = [
    "", " ", ".", "..", "../../etc/passwd", "..%2f..%2f", "%2e%2e/", "%00", "\u{0}", "a\u{0}b", "/",
    "\\", "'", "\"; DROP TABLE records; --", "Den", "Vault", "_defaultZone", "__defaultOwner__",
    "_defaultOwner", "paper-3", "paper-file", "Note", "File", "cloudkit.share", "title", "number",
    "content", "___recordID", "NaN", "Infinity", "0x10", "-0", "1e400", "9223372036854775808", "é",
    "e\u{301}", "\u{202E}", "\u{FEFF}", "😀", "\u{10FFFF}", "\u{FFFF}", "AAAA", "AA==", "====",
    "null",
    "true", "STRING", "INT64", "INT64_LIST", "REFERENCE", "ASSETID", "LOCATION", "BYTES",
    "TIMESTAMP",
    "forceUpdate", "forceDelete", "create", "delete", "update", "DELETE_SELF", "VALIDATE",
    String(repeating: "a", count: 255), String(repeating: "a", count: 256),
    String(repeating: "é", count: 5000), String(repeating: "\\", count: 300),
  ]

  static let numbers: [JSON] = [
    .integer(0), .integer(-1), .integer(1), .integer(200), .integer(201), .integer(Int64.max),
    .integer(Int64.min), .integer(1 << 53), .number(1e308), .number(-1e308),
    .number(.leastNonzeroMagnitude),
    .number(0.5), .number(-0.0), .number(9.3e18), .number(1e19), .number(253_402_300_800_000),
  ]

  /// Names that requests have members by.
  static let names: [String] = [
    "zoneID", "zoneName", "ownerRecordName", "ownerName", "records", "recordName", "recordType",
    "fields", "value", "type", "operations", "operationType", "record", "zone", "atomic",
    "desiredKeys", "numbersAsStrings", "query", "filterBy", "sortBy", "comparator", "fieldName",
    "systemFieldName", "fieldValue", "distance", "relativeLocation", "ascending", "resultsLimit",
    "continuationMarker", "syncToken", "metaSyncToken", "zones", "reverse", "subscription",
    "subscriptionID", "subscriptionType", "firesOn", "firesOnce", "zoneWide", "notificationInfo",
    "shortGUIDs", "tokens", "assets", "clientId", "apnsEnvironment", "cloudsync", "parent", "share",
    "forRecord", "publicPermission", "participants", "lookupInfos", "users", "emailAddress",
    "action", "latitude", "longitude", "timestamp", "receipt", "fileChecksum", "size", "deleted",
    "created", "modified", "createShortGUID", "recordChangeTag", "shouldFetchRootRecord",
  ]

  /// Texts that are no JSON, or too much of it.
  static let bodies: [[UInt8]] = [
    [], [0], [0xEF, 0xBB, 0xBF], [0xFF, 0xFE], Array("{".utf8), Array("[".utf8), Array("\"".utf8),
    Array("nul".utf8), Array("{}{}".utf8), Array("{\"a\":1,\"a\":2}".utf8), Array("[1,]".utf8),
    Array("{\"a\":01}".utf8), Array("{\"a\":1e400}".utf8), Array("{\"a\":-}".utf8),
    Array("{\"a\":\"\\ud800\"}".utf8), Array("{\"a\":\"\\u00zz\"}".utf8),
    Array("{\"a\":\"".utf8) + [0xC0, 0x80] + Array("\"}".utf8),
    Array("{\"a\":\"".utf8) + [0xED, 0xA0, 0x80] + Array("\"}".utf8),
    Array("{\"a\":9223372036854775808}".utf8), Array("{\"a\":18446744073709551616}".utf8),
    [UInt8](repeating: UInt8(ascii: "["), count: 20000),
    Array(String(repeating: "{\"a\":", count: 5000).utf8),
    Array(("{\"a\":1" + String(repeating: "0", count: 5000) + "}").utf8),
    Array(("{\"a\":0." + String(repeating: "3", count: 5000) + "}").utf8),
    Array(("[" + String(repeating: "0,", count: 5000) + "0]").utf8),
    [UInt8](repeating: 32, count: 30000),
  ]

  /// Any value; not deeper than `depth`.
  static func value(_ random: inout Randomness, learned: [String], depth: Int = 3) -> JSON {
    switch random.below(depth > 0 ? 9 : 6) {
    case 0: return .null
    case 1: return .bool(random.happens(50))
    case 2: return random.pick(numbers)
    case 3, 4: return .string(text(&random, learned: learned))
    case 5: return .string(base64(&random))
    case 6:
      return .array(
        (0..<random.below(4)).map { _ in value(&random, learned: learned, depth: depth - 1) })
    case 7:
      var members = JSON.Members()
      for _ in 0..<random.below(4) {
        let name = random.pick(names)
        guard members[name] == nil else { continue }
        members.add(name, value(&random, learned: learned, depth: depth - 1))
      }
      return .object(members)
    default:
      // Up to what is allowed, and beyond.
      return (0..<random.pick([3, 30, 60, 63, 64, 65, 100])).reduce(.null) { inner, _ in
        .array([inner])
      }
    }
  }

  static func text(_ random: inout Randomness, learned: [String]) -> String {
    guard !learned.isEmpty, random.happens(30) else { return random.pick(texts) }
    let text = random.pick(learned)
    guard random.happens(50) else { return text }
    return String(decoding: random.damaged(Array(text.utf8)), as: UTF8.self)
  }

  private static func base64(_ random: inout Randomness) -> String {
    let bytes = random.bytes(random.below(60))
    return Notation.base64(bytes)
  }
}

extension JSON {
  /// The value with one of its parts replaced, removed or added.
  func mutated(_ random: inout Randomness, learned: [String]) -> JSON {
    switch self {
    case .array(var values):
      guard !values.isEmpty, !random.happens(15) else {
        return HostileValues.value(&random, learned: learned)
      }
      let index = random.below(values.count)
      switch random.below(6) {
      case 0: values.remove(at: index)
      case 1: values += [JSON](repeating: values[index], count: random.pick([1, 2, 10, 201]))
      default: values[index] = values[index].mutated(&random, learned: learned)
      }
      return .array(values)
    case .object(let members):
      guard !members.elements.isEmpty, !random.happens(5) else {
        return HostileValues.value(&random, learned: learned)
      }
      var elements = members.elements
      let index = random.below(elements.count)
      switch random.below(8) {
      case 0: elements.remove(at: index)
      case 1:
        var more = members
        let name = random.pick(HostileValues.names)
        if members[name] == nil {
          more.add(name, HostileValues.value(&random, learned: learned))
        }
        return .object(more)
      case 2:
        let name = random.pick(HostileValues.names)
        if members[name] == nil { elements[index].name = name }
      default: elements[index].value = elements[index].value.mutated(&random, learned: learned)
      }
      return .object(Members(elements))
    case .null, .bool, .integer, .number, .string:
      return HostileValues.value(&random, learned: learned)
    }
  }

  /// All longer texts in it.
  func longTexts() -> [String] {
    switch self {
    case .string(let text): text.utf8.count > 12 ? [text] : []
    case .array(let values): values.flatMap { $0.longTexts() }
    case .object(let members): members.elements.flatMap { $0.value.longTexts() }
    case .null, .bool, .integer, .number: []
    }
  }
}
