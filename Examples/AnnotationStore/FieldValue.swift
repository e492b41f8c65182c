import Foundation
import SyncSupport

/// The value of a field as it is stored and merged, without CloudKit's objects.
enum FieldValue: Hashable, Sendable {
  case text(String)
  case whole(Int64)
  case number(Double)
  case date(Date)
  case bytes(Data)
  /// The name of a record in the same zone.
  case link(String)
  /// The name of a file in the media folder.
  case media(String)
  case texts([String])

  /// The value of a record's field, except files; `nil` for a type that this version does not know.
  init?(_ object: any CKRecordValueProtocol) {
    switch object {
    case let text as String: self = .text(text)
    case let date as Date: self = .date(date)
    case let data as Data: self = .bytes(data)
    case let reference as CKRecord.Reference: self = .link(reference.recordID.recordName)
    case let texts as [String]: self = .texts(texts)
    case let number as NSNumber:
      let isFloating = ["d", "f"].contains(String(cString: number.objCType))
      self = isFloating ? .number(number.doubleValue) : .whole(number.int64Value)
    case let number as Int: self = .whole(Int64(number))
    case let number as Double: self = .number(number)
    default: return nil
    }
  }

  /// The value as text, the same on every device; texts of dates sort as the dates do.
  var canonicalText: String {
    switch self {
    case .text(let text): "t" + text
    case .whole(let number): "w\(number)"
    case .number(let number): "n\(number)"
    case .date(let date):
      "d" + Self.sortable(date.timeIntervalSinceReferenceDate.bitPattern).hexadecimal
    case .bytes(let data): "b" + data.base64EncodedString()
    case .link(let name): "l" + name
    case .media(let name): "m" + name
    case .texts(let texts): "s" + texts.joined(separator: "\u{1F}")
    }
  }

  /// The bits of a number, in an order that is that of the numbers.
  private static func sortable(_ bits: UInt64) -> UInt64 {
    bits >> 63 == 1 ? ~bits : bits | (1 << 63)
  }

  /// The value for people.
  var plainText: String {
    switch self {
    case .text(let text), .link(let text): text
    case .whole(let number): "\(number)"
    case .number(let number): "\(number)"
    case .date(let date): date.ISO8601Format()
    case .bytes(let data): "\(data.count) bytes"
    case .media(let name): "file " + name
    case .texts(let texts): texts.joined(separator: ", ")
    }
  }
}

extension FieldValue: Codable {
  private enum CodingKeys: String, CodingKey {
    case text = "t"
    case whole = "w"
    case number = "n"
    case date = "d"
    case bytes = "b"
    case link = "l"
    case media = "m"
    case texts = "s"
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard let key = container.allKeys.first else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "a value of no kind"))
    }
    func value<Value: Decodable>() throws -> Value { try container.decode(Value.self, forKey: key) }
    switch key {
    case .text: self = .text(try value())
    case .whole: self = .whole(try value())
    case .number: self = .number(Double(bitPattern: try value()))
    case .date:
      self = .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: try value())))
    case .bytes: self = .bytes(try value())
    case .link: self = .link(try value())
    case .media: self = .media(try value())
    case .texts: self = .texts(try value())
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .text(let text): try container.encode(text, forKey: .text)
    case .whole(let number): try container.encode(number, forKey: .whole)
    // By their bits: JSON's decimal numbers lose some, and can't express others.
    case .number(let number): try container.encode(number.bitPattern, forKey: .number)
    case .date(let date):
      try container.encode(date.timeIntervalSinceReferenceDate.bitPattern, forKey: .date)
    case .bytes(let data): try container.encode(data, forKey: .bytes)
    case .link(let name): try container.encode(name, forKey: .link)
    case .media(let name): try container.encode(name, forKey: .media)
    case .texts(let texts): try container.encode(texts, forKey: .texts)
    }
  }
}

/// The fields of one version of an item; a value of another type counts as missing.
typealias Fields = [String: FieldValue]

extension Fields {
  subscript(text key: String) -> String? {
    get { if case .text(let text)? = self[key] { text } else { nil } }
    set { self[key] = newValue.map { .text($0) } }
  }

  /// The number of a field, whole or not; `nil` if it is not finite.
  subscript(number key: String) -> Double? {
    get {
      switch self[key] {
      case .number(let number)?: number.isFinite ? number : nil
      case .whole(let number)?: Double(number)
      default: nil
      }
    }
    set { self[key] = newValue.map { .number($0) } }
  }

  subscript(date key: String) -> Date? {
    get {
      guard case .date(let date)? = self[key], date.timeIntervalSinceReferenceDate.isFinite else {
        return nil
      }
      return date
    }
    set { self[key] = newValue.map { .date($0) } }
  }

  /// The item that a field refers to.
  subscript(link key: String) -> UUID? {
    get { if case .link(let name)? = self[key] { UUID(uuidString: name) } else { nil } }
    set { self[key] = newValue.map { .link($0.uuidString) } }
  }

  /// The name of a field's file.
  subscript(media key: String) -> String? {
    get { if case .media(let name)? = self[key] { name } else { nil } }
    set { self[key] = newValue.map { .media($0) } }
  }

  /// The date of the last edit, in the distant past if it is unknown.
  var updatedAt: Date {
    get { self[date: "updatedAt"] ?? .distantPast }
    set { self[date: "updatedAt"] = newValue }
  }

  /// Whether the item is in the trash.
  var isDeleted: Bool {
    get { (self[number: "isDeleted"] ?? 0) != 0 }
    set { self["isDeleted"] = .whole(newValue ? 1 : 0) }
  }

  /// Whether two versions differ at most in the date of the edit.
  func saysTheSame(as other: Fields) -> Bool {
    let keys = Set(keys).union(other.keys).subtracting(ItemKind.followers)
    return keys.allSatisfy { self[$0] == other[$0] }
  }
}

extension UInt64 {
  /// All 16 hexadecimal digits.
  var hexadecimal: String { String(format: "%016llx", self) }
}
