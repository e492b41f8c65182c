import Foundation

/// A binary property list, as far as keyed archives of counts need it.
///
/// Written here because the system's reader may end the program over damaged bytes; this one
/// checks every offset and reads no deeper than it has to. The format: a table of objects found
/// through offsets, described by the last 32 bytes.
struct BinaryPropertyList {
  /// One object of the list; arrays and dictionaries hold the numbers of other objects.
  enum Object: Hashable {
    case integer(Int)
    case string(String)
    /// A keyed archive's pointer into its own table.
    case reference(Int)
    case array([Int])
    case dictionary([Int: Int])
    case other
  }

  private let bytes: [UInt8]
  private let offsets: [Int]
  private let referenceSize: Int
  /// The number of the object everything hangs under.
  let root: Int

  /// Opens a list; `nil` when it is none.
  init?(_ data: Data) {
    bytes = Array(data)
    guard bytes.count >= 40, bytes.starts(with: Array("bplist00".utf8)) else { return nil }
    let trailer = bytes.count - 32
    let offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
      let count = Self.number(bytes, trailer + 8, 8),
      let root = Self.number(bytes, trailer + 16, 8),
      let table = Self.number(bytes, trailer + 24, 8),
      root < count, count <= bytes.count, table <= trailer,
      count * offsetSize <= trailer - table
    else { return nil }
    var offsets: [Int] = []
    for index in 0..<count {
      guard let offset = Self.number(bytes, table + index * offsetSize, offsetSize),
        offset < table
      else { return nil }
      offsets.append(offset)
    }
    self.offsets = offsets
    self.root = root
  }

  /// The object with a number; `nil` when there is none or it is damaged.
  func object(_ number: Int) -> Object? {
    guard offsets.indices.contains(number) else { return nil }
    var place = offsets[number]
    let mark = bytes[place]
    place += 1
    let low = Int(mark & 0x0f)
    switch mark >> 4 {
    case 0x1:
      guard low <= 3 else { return nil }
      return Self.number(bytes, place, 1 << low).map { .integer($0) }
    case 0x5, 0x6:
      guard let length = length(low, &place) else { return nil }
      return string(place, length, isWide: mark >> 4 == 0x6).map { .string($0) }
    case 0x8: return Self.number(bytes, place, low + 1).map { .reference($0) }
    case 0xa:
      guard let length = length(low, &place) else { return nil }
      return numbers(place, length).map { .array($0) }
    case 0xd:
      guard let length = length(low, &place), let keys = numbers(place, length),
        let values = numbers(place + length * referenceSize, length)
      else { return nil }
      return .dictionary(Dictionary(zip(keys, values)) { first, _ in first })
    default: return .other
    }
  }

  /// What the member `name` of a dictionary is.
  func member(_ name: String, of object: Object?) -> Object? {
    guard case .dictionary(let members)? = object else { return nil }
    for (key, value) in members where self.object(key) == .string(name) {
      return self.object(value)
    }
    return nil
  }

  private func length(_ low: Int, _ place: inout Int) -> Int? {
    guard low == 0xf else { return low }
    guard place < bytes.count, bytes[place] >> 4 == 0x1, bytes[place] & 0x0f <= 3 else {
      return nil
    }
    let size = 1 << Int(bytes[place] & 0x0f)
    defer { place += 1 + size }
    guard let length = Self.number(bytes, place + 1, size), length <= bytes.count else {
      return nil
    }
    return length
  }

  private func numbers(_ place: Int, _ count: Int) -> [Int]? {
    guard place <= bytes.count, count <= (bytes.count - place) / referenceSize else { return nil }
    var numbers: [Int] = []
    for index in 0..<count {
      guard let number = Self.number(bytes, place + index * referenceSize, referenceSize) else {
        return nil
      }
      numbers.append(number)
    }
    return numbers
  }

  private func string(_ place: Int, _ length: Int, isWide: Bool) -> String? {
    let size = isWide ? length * 2 : length
    guard size <= bytes.count - place else { return nil }
    guard isWide else { return String(decoding: bytes[place..<(place + size)], as: UTF8.self) }
    let units = stride(from: place, to: place + size, by: 2).map {
      UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
    }
    return String(decoding: units, as: UTF16.self)
  }

  /// A number of `size` bytes, the greatest first; `nil` beyond the end or what an `Int` holds.
  private static func number(_ bytes: [UInt8], _ place: Int, _ size: Int) -> Int? {
    guard size <= 8, place >= 0, place <= bytes.count, size <= bytes.count - place else {
      return nil
    }
    var number: UInt64 = 0
    for byte in bytes[place..<(place + size)] { number = number << 8 | UInt64(byte) }
    return Int(exactly: number)
  }
}
