import CloudSync
import Foundation

/// A field's value as it is kept on the disk and merged: what a record's field can hold, without
/// the objects.
enum FieldValue: Hashable, Sendable, Codable {
  case text(String)
  case whole(Int64)
  case number(Double)
  case date(Double)
  case bytes(Data)
  /// The name of a record in the same zone.
  case link(String)
  /// A file, by the name it has in the media folder.
  case media(String)
  case texts([String])

  /// The value of a field of a record; `nil` when this version has no word for it.
  ///
  /// Files are not read here, as that means moving them.
  init?(_ object: any CKRecordValueProtocol) {
    switch object {
    case let text as String: self = .text(text)
    case let date as Date: self = .date(date.timeIntervalSinceReferenceDate)
    case let data as Data: self = .bytes(data)
    case let reference as CKRecord.Reference: self = .link(reference.recordID.recordName)
    case let texts as [String]: self = .texts(texts)
    case let number as NSNumber: self = Self.number(number)
    case let number as Int: self = .whole(Int64(number))
    case let number as Double: self = .number(number)
    default: return nil
    }
  }

  /// A number as it was meant: with a fraction, or whole.
  private static func number(_ number: NSNumber) -> FieldValue {
    let isFloating = ["d", "f"].contains(String(cString: number.objCType))
    return isFloating ? .number(number.doubleValue) : .whole(number.int64Value)
  }

  /// The value as text, the same on every device, to break ties by.
  var canonicalText: String {
    switch self {
    case .text(let text): "t" + text
    case .whole(let number): "w\(number)"
    case .number(let number): "n\(number)"
    case .date(let seconds): "d" + Self.sortable(seconds)
    case .bytes(let data): "b" + data.base64EncodedString()
    case .link(let name): "l" + name
    case .media(let name): "m" + name
    case .texts(let texts): "s" + texts.joined(separator: "\u{1F}")
    }
  }

  /// A number's bits as text that sorts as the numbers do.
  private static func sortable(_ seconds: Double) -> String {
    let bits = seconds.bitPattern
    let ordered = seconds.sign == .minus ? ~bits : bits | (1 << 63)
    let digits = String(ordered, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

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
    switch key {
    case .text: self = .text(try container.decode(String.self, forKey: key))
    case .whole: self = .whole(try container.decode(Int64.self, forKey: key))
    case .number: self = .number(Double(bitPattern: try container.decode(UInt64.self, forKey: key)))
    case .date: self = .date(Double(bitPattern: try container.decode(UInt64.self, forKey: key)))
    case .bytes: self = .bytes(try container.decode(Data.self, forKey: key))
    case .link: self = .link(try container.decode(String.self, forKey: key))
    case .media: self = .media(try container.decode(String.self, forKey: key))
    case .texts: self = .texts(try container.decode([String].self, forKey: key))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .text(let text): try container.encode(text, forKey: .text)
    case .whole(let number): try container.encode(number, forKey: .whole)
    // By their bits: JSON's decimal numbers lose some, and have no word for others.
    case .number(let number): try container.encode(number.bitPattern, forKey: .number)
    case .date(let seconds): try container.encode(seconds.bitPattern, forKey: .date)
    case .bytes(let data): try container.encode(data, forKey: .bytes)
    case .link(let name): try container.encode(name, forKey: .link)
    case .media(let name): try container.encode(name, forKey: .media)
    case .texts(let texts): try container.encode(texts, forKey: .texts)
    }
  }
}

/// The fields of one version of an item.
typealias Fields = [String: FieldValue]

extension Fields {
  /// The text of a field.
  func text(_ key: String) -> String? {
    if case .text(let text)? = self[key] { text } else { nil }
  }

  /// The number of a field, whole or not; `nil` for one that is none.
  func number(_ key: String) -> Double? {
    switch self[key] {
    case .number(let number)?: number.isFinite ? number : nil
    case .whole(let number)?: Double(number)
    case .text, .date, .bytes, .link, .media, .texts, nil: nil
    }
  }

  /// The date of a field.
  func date(_ key: String) -> Date? {
    guard case .date(let seconds)? = self[key], seconds.isFinite else { return nil }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }

  /// The item a field points at.
  func link(_ key: String) -> UUID? {
    if case .link(let name)? = self[key] { UUID(uuidString: name) } else { nil }
  }

  /// The file of a field.
  func media(_ key: String) -> String? {
    if case .media(let name)? = self[key] { name } else { nil }
  }

  /// Whether the item counts as deleted.
  var isDeleted: Bool { (number("isDeleted") ?? 0) != 0 }
}
