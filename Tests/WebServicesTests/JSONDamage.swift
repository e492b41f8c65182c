import Records
import VerificationSupport
import WebServices

/// Damages values the way a careless or hostile client would.
struct JSONDamage {
  var random: SeededGenerator

  /// Members that mean something somewhere.
  private static let names = [
    "recordName", "recordType", "zoneID", "zoneName", "ownerRecordName", "ownerName", "fields",
    "value", "type", "action", "recordChangeTag", "operationType", "record", "zone", "zones",
    "operations", "records", "query", "filterBy", "sortBy", "comparator", "fieldValue", "distance",
    "desiredKeys", "syncToken", "metaSyncToken", "resultsLimit", "continuationMarker", "parent",
    "share", "forRecord", "participants", "participantId", "userIdentity", "lookupInfo", "deleted",
    "created", "timestamp", "subscriptionID", "subscriptionType", "firesOn", "notificationInfo",
    "serverErrorCode", "reason", "retryAfter", "moreComing", "size", "fileChecksum", "latitude",
    "isEncrypted", "atomic", "shortGUID", "rootRecord", "ownerIdentity", Notation.extra, "",
  ]

  private static let texts = [
    "", "x", "STRING", "INT64", "DOUBLE", "TIMESTAMP", "BYTES", "REFERENCE", "ASSETID", "LOCATION",
    "STRING_LIST", "_LIST", "LIST", "EMPTY_LIST", "_LIST_LIST", "cloudkit.share", "create",
    "delete", "IN", "NEAR", "query", "zone", "AQID", "AAAA", "/////w==", "gAAAAAAAAAAA", "\u{0}",
    "9223372036854775808", "-1", "1e999", "BAD_REQUEST", "NOT_FOUND", "_alice", "__defaultOwner__",
  ]

  mutating func scalar() -> JSON {
    switch random.below(9) {
    case 0: .null
    case 1: .bool(random.once(in: 2))
    case 2: .integer(random.one(of: [Int64(0), -1, 1, .max, .min, 201]))
    case 3: .number(random.one(of: [0.5, -0.0, 1e300, .leastNonzeroMagnitude, 2]))
    case 4: .array([])
    case 5: .object(JSON.Members())
    case 6:
      .string(Notation.base64(random.some(20) { UInt8($0.below($0.once(in: 2) ? 4 : 256)) }))
    default: .string(random.one(of: JSONDamage.texts))
    }
  }

  /// `json` with one place of it damaged.
  mutating func damaged(_ json: JSON) -> JSON {
    switch json {
    case .array(var values) where !values.isEmpty && !random.once(in: 8):
      let place = random.below(values.count)
      switch random.below(6) {
      case 0: values.remove(at: place)
      case 1: values.append(values[place])
      case 2: values.insert(scalar(), at: place)
      default: values[place] = damaged(values[place])
      }
      return .array(values)
    case .object(let members) where !members.elements.isEmpty && !random.once(in: 8):
      var elements = members.elements
      let place = random.below(elements.count)
      switch random.below(8) {
      case 0: elements.remove(at: place)
      case 1: elements[place].name = random.one(of: JSONDamage.names)
      case 2:
        elements.append(
          JSON.Members.Element(name: random.one(of: JSONDamage.names), value: scalar()))
      case 3: elements[place].value = elements[random.below(elements.count)].value
      default: elements[place].value = damaged(elements[place].value)
      }
      var names: Set<String> = []
      return .object(JSON.Members(elements.filter { names.insert($0.name).inserted }))
    case .null, .bool, .integer, .number, .string, .array, .object: return scalar()
    }
  }
}

extension JSONDamage {
  /// What stands where something else is expected, or twice.
  private static let pieces = [
    "\"", "\\", "\\u0041", "\\n", " ", "\n", ",", ":", "{", "}", "[", "]", "null", "true", "0", "-",
    "1", "9", ".5", "e3", "\u{85}", "é", "\u{2028}", "\u{7F}", "=", "A", "\"type\":\"INT64\",",
    "\"recordName\":\"x\",", "\"deleted\":true,", "\"cloudsync\":\"AAAA\",",
    "\"isEncrypted\":true,",
    "\"serverErrorCode\":\"NOT_FOUND\",", "\"numbersAsStrings\":true,",
  ]

  /// `json` as text, damaged as a value, as text, or both.
  mutating func damagedText(_ json: JSON) -> [UInt8] {
    var bytes = (random.once(in: 3) ? damaged(json) : json).bytes
    for _ in 0..<random.below(3) where !bytes.isEmpty {
      let place = random.below(bytes.count)
      let end = min(bytes.count, place + random.below(random.once(in: 2) ? 2 : 80))
      switch random.below(5) {
      case 0: bytes[place] = UInt8(random.below(256))
      case 1: bytes.removeSubrange(place..<end)
      case 2: bytes.insert(contentsOf: Array(bytes[place..<end]), at: end)
      case 3:
        bytes.insert(contentsOf: Array(random.one(of: JSONDamage.pieces).utf8), at: place)
      default:
        // Where a member may stand.
        let places = bytes.indices.filter { bytes[$0] == UInt8(ascii: "{") || bytes[$0] == 0x2C }
        guard !places.isEmpty else { continue }
        bytes.insert(
          contentsOf: Array(random.one(of: JSONDamage.pieces).utf8), at: random.one(of: places) + 1)
      }
    }
    return bytes
  }
}
