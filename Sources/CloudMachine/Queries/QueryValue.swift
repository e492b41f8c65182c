import Records

/// A comparable value in queries; text is compared without case.
///
/// Rules: CS-71 to CS-90.
enum QueryValue: Hashable {
  case text(String)
  case integer(Int64)
  case number(Double)
  case time(Double)
  case bytes([UInt8])
  case reference(RecordID)
  /// A record by its name alone, for system fields.
  case name(String)

  /// The comparable form of `value`; `nil` for files, locations and lists, which have no order.
  init?(_ value: FieldValue) {
    switch value {
    case .string(let text): self = .text(text.lowercased())
    case .int64(let value): self = .integer(value)
    case .double(let value): self = .number(value)
    case .date(let value): self = .time(value.secondsSinceReferenceDate)
    case .bytes(let value): self = .bytes(value)
    case .reference(let value): self = .reference(value.target)
    case .asset, .location, .list: return nil
    }
  }

  /// About the size of the value in bytes.
  var byteCount: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .name(let name): name.utf8.count
    case .bytes(let bytes): bytes.count
    case .reference(let id): id.name.utf8.count
    case .integer, .number, .time: 8
    }
  }

  /// The order of two values.
  enum Order: Hashable {
    case less, equal, greater

    init<Value: Comparable>(_ first: Value, _ second: Value) {
      self = first < second ? .less : first == second ? .equal : .greater
    }

    var reversed: Order {
      switch self {
      case .less: .greater
      case .equal: .equal
      case .greater: .less
      }
    }
  }

  /// The order of this value and `other`; `nil` when they cannot be compared.
  func order(to other: QueryValue) -> Order? {
    switch (self, other) {
    case (.text(let first), .text(let second)): return Order(first, second)
    case (.integer(let first), .integer(let second)): return Order(first, second)
    case (.number(let first), .number(let second)), (.time(let first), .time(let second)):
      return first.isNaN || second.isNaN ? nil : Order(first, second)
    case (.integer(let first), .number(let second)): return QueryValue.order(of: first, to: second)
    case (.number(let first), .integer(let second)):
      return QueryValue.order(of: second, to: first)?.reversed
    case (.bytes(let first), .bytes(let second)):
      if first == second { return .equal }
      return first.lexicographicallyPrecedes(second) ? .less : .greater
    case (.reference(let first), .reference(let second)): return Order(first, second)
    case (.name(let first), .name(let second)): return Order(first, second)
    case (.reference(let first), .name(let second)): return Order(first.name, second)
    case (.name(let first), .reference(let second)): return Order(first, second.name)
    case (.text, _), (.integer, _), (.number, _), (.time, _), (.bytes, _), (.reference, _),
      (.name, _):
      return nil
    }
  }

  /// Compares an integer with a floating-point number exactly, without rounding.
  private static func order(of first: Int64, to second: Double) -> Order? {
    if second.isNaN { return nil }
    if second >= 9_223_372_036_854_775_808 { return .less }
    if second < -9_223_372_036_854_775_808 { return .greater }
    let whole = Int64(second)
    if first != whole { return Order(first, whole) }
    return Order(0, second - Double(whole))
  }

  /// The total sort order: missing values first, then NaN, then other values; values of different
  /// kinds are ordered by kind.
  static func sortOrder(of first: QueryValue?, to second: QueryValue?) -> Order {
    guard let first, let second else { return Order(first == nil ? 0 : 1, second == nil ? 0 : 1) }
    return first.order(to: second) ?? Order(first.rank, second.rank)
  }

  private var rank: Int {
    switch self {
    case .number(let value): value.isNaN ? 0 : 1
    case .integer: 1
    case .time(let value): value.isNaN ? 2 : 3
    case .text: 4
    case .bytes: 5
    case .reference, .name: 6
    }
  }
}

extension ByteWriter {
  /// Appends a byte for the kind and the value.
  mutating func write(_ value: QueryValue) {
    switch value {
    case .text(let value):
      write(UInt8(0))
      write(value)
    case .integer(let value):
      write(UInt8(1))
      write(fixed: UInt64(bitPattern: value))
    case .number(let value):
      write(UInt8(2))
      write(value)
    case .time(let value):
      write(UInt8(3))
      write(value)
    case .bytes(let value):
      write(UInt8(4))
      write(value)
    case .reference(let value):
      write(UInt8(5))
      write(value)
    case .name(let value):
      write(UInt8(6))
      write(value)
    }
  }
}

extension ByteReader {
  /// Reads a byte for the kind and the value.
  mutating func queryValue() throws(ByteFormatError) -> QueryValue {
    switch try byte() {
    case 0: return .text(try string())
    case 1: return .integer(Int64(bitPattern: try fixed64()))
    case 2: return .number(try double())
    case 3: return .time(try double())
    case 4: return .bytes(try byteArray())
    case 5: return .reference(try recordID())
    case 6: return .name(try string())
    default: throw fault("the kind of a value is unknown")
    }
  }
}
