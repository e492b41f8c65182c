import CloudProtocol
import Records
import VerificationSupport

/// Makes values with all that is awkward.
///
/// Plain ones have only what the JSON of CloudKit Web Services can hold without the extra member:
///
/// - times are whole milliseconds, within some thousands of years of today;
/// - numbers are finite;
/// - a list holds values of one kind, and no lists;
/// - a file has no place on the device, and no receipt that looks like JSON;
/// - zones of other owners are only found in the shared database;
/// - a record is a share when its type says so, and not otherwise.
struct Sampler {
  var random: SeededGenerator
  var isPlain: Bool
  var database: DatabaseScope

  init(seed: UInt64, isPlain: Bool = false, database: DatabaseScope = .private) {
    random = SeededGenerator(seed: seed)
    self.isPlain = isPlain
    self.database = database
  }

  private static let texts = [
    "", "a", "Name", "\u{0}", "a\u{0}b", "\u{E9}", "e\u{301}", "\u{1F468}\u{200D}\u{1F469}",
    "\u{FEFF}x", "\"quoted\" \\ /", "\r\n\t", "\u{7F}\u{80}", "\u{2028}", "\u{10FFFF}", "null",
    "{}", "a/b?c#d%20", "__defaultOwner__", "_defaultZone", "\u{1112}\u{1161}\u{11AB}",
  ]

  mutating func text() -> String {
    random.once(in: 4)
      ? random.one(of: Sampler.texts) + random.one(of: Sampler.texts)
      : random.one(of: Sampler.texts)
  }

  /// A text, or none once in three times.
  mutating func maybeText() -> String? { random.once(in: 3) ? nil : text() }

  mutating func number() -> Double {
    let numbers: [Double] = [
      0, -0.0, 1, -1, 0.1, 1e16, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
      .leastNormalMagnitude,
      .greatestFiniteMagnitude, 9_007_199_254_740_992, 1.5, 1e300, 3,
    ]
    let others: [Double] = [
      .infinity, -.infinity, .nan, -.nan, Double(nan: 12345, signaling: false),
      Double(bitPattern: 0xfff8_0000_dead_beef),
    ]
    switch random.below(4) {
    case 0:
      let number = Double(bitPattern: random.next())
      return isPlain && !number.isFinite ? 7.25 : number
    case 1 where !isPlain: return random.one(of: others)
    default: return random.one(of: numbers)
    }
  }

  mutating func time() -> Timestamp {
    let seconds: Double
    switch random.below(isPlain ? 2 : 4) {
    case 0:
      // The year 1970 begins so long before 2001 does.
      let milliseconds = Double(random.below(200_000_000_000_000) - 100_000_000_000_000)
      seconds = (milliseconds - 978_307_200_000) / 1000
    case 1: seconds = random.one(of: [0, -978_307_200, 800_000_000, 0.001, 0.5])
    case 2: seconds = Double(random.below(1_000_000_000)) + 0.000_1 * Double(random.below(9) + 1)
    default: seconds = number()
    }
    return Timestamp(secondsSinceReferenceDate: seconds)
  }

  mutating func integer() -> Int64 {
    random.once(in: 3)
      ? Int64(bitPattern: random.next())
      : random.one(of: [0, 1, -1, .min, .max, 9_007_199_254_740_993, 42])
  }

  mutating func bytes() -> [UInt8] { random.some(40) { UInt8($0.below(256)) } }

  mutating func zone() -> ZoneID {
    let name = random.once(in: 4) ? ZoneID.defaultName : text()
    if database == .shared {
      return ZoneID(name: name, owner: random.one(of: ["_bob", "_\u{E9}"]))
    }
    if isPlain || random.below(4) > 0 { return ZoneID(name: name) }
    return ZoneID(name: name, owner: random.one(of: ["_bob", "", "e\u{301}"]))
  }

  mutating func recordID(in zone: ZoneID? = nil) -> RecordID {
    let other = self.zone()
    return RecordID(name: text(), zone: random.once(in: 4) ? other : zone ?? other)
  }

  mutating func asset() -> Asset {
    var receipts = ["", "receipt", "\u{0}\u{E9}", #"["a"]"#]
    if !isPlain {
      receipts += ["{}", "{", #"{"size":1}"#, #"{"size":-1,"fileChecksum":1}"#, #"{"a":1,"a":2}"#]
    }
    return Asset(
      checksum: text(), size: random.one(of: [0, 1, 1_000_000, .max]),
      receipt: random.maybe { $0.one(of: receipts) },
      location: isPlain ? nil : random.maybe { $0.one(of: ["/tmp/x", ""]) })
  }

  mutating func place() -> Location {
    Location(
      latitude: number(), longitude: number(), altitude: number(), horizontalAccuracy: number(),
      verticalAccuracy: number(), course: number(), speed: number(), timestamp: time())
  }

  mutating func value(_ kind: FieldValue.Kind? = nil, depth: Int = 0) -> FieldValue {
    switch kind ?? random.one(of: FieldValue.Kind.allCases) {
    case .string: return .string(text())
    case .int64: return .int64(integer())
    case .double: return .double(number())
    case .date: return .date(time())
    case .bytes: return .bytes(bytes())
    case .reference:
      return .reference(
        Reference(target: recordID(), action: random.once(in: 2) ? .none : .deleteSelf))
    case .asset: return .asset(asset())
    case .location: return .location(place())
    case .list:
      let kinds = FieldValue.Kind.allCases.filter { $0 != .list }
      let kind = random.one(of: kinds)
      let isMixed = !isPlain && random.once(in: 4)
      var values: [FieldValue] = []
      for _ in 0..<random.below(4) {
        values.append(
          isMixed && depth < 2
            ? value(depth: depth + 1) : value(isMixed ? random.one(of: kinds) : kind))
      }
      return .list(values)
    }
  }

  mutating func field() -> Field { Field(value(), isEncrypted: random.once(in: 4)) }

  mutating func fields(_ most: Int = 6) -> Fields {
    var fields = Fields()
    for _ in 0..<random.below(most + 1) {
      let key = text()
      // Swift can't put "\u{E9}a" and "e\u{301}" in an order: names keep to one normal form.
      fields[key.unicodeScalars.contains("\u{301}") ? "key" : key] = field()
    }
    return fields
  }

  mutating func stamp() -> RecordStamp {
    RecordStamp(time: time(), user: UserID(text()), device: maybeText())
  }

  mutating func record() -> Record {
    let id = recordID()
    let isShare = random.once(in: 4)
    let type = isShare ? ShareDetails.recordType : random.one(of: ["Note", "\u{E9}", "a b"])
    var record = Record(id: id, type: type, fields: fields())
    record.changeTag = maybeText().map { ChangeTag($0) }
    if random.once(in: 3) { record.parent = recordID(in: id.zone) }
    if random.once(in: 3) { record.share = recordID(in: id.zone) }
    if isShare { record.sharing = sharing(id.zone) }
    if random.below(4) > 0 { record.created = stamp() }
    if random.below(4) > 0 { record.modified = stamp() }
    guard !isPlain, random.once(in: 8) else { return record }
    // Nobody makes such a record on purpose.
    record.sharing = record.sharing == nil ? sharing(id.zone) : nil
    return record
  }

  mutating func save() -> RecordSave {
    let record = record()
    var save = RecordSave(record)
    for index in save.changes.indices where random.once(in: 3) {
      save.changes[index].field = nil
    }
    switch random.below(3) {
    case 0: save.parent = .keep
    case 1: save.parent = .set(nil)
    default: save.parent = .set(recordID(in: record.id.zone))
    }
    if !isPlain, random.once(in: 6), save.sharing == nil { save.type = "" }
    return save
  }
}
