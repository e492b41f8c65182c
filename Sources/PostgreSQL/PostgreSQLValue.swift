#if PostgreSQL
  /// A parameter of a statement, sent in PostgreSQL's binary format.
  package enum PostgreSQLValue: Sendable {
    /// `NULL`, as a value of type `bytea`.
    case null
    /// A value of type `bigint`.
    case integer(Int64)
    /// A value of type `boolean`.
    case bool(Bool)
    /// A value of type `text`, in which U+FFFD stands for U+0000: PostgreSQL has no such text.
    case text(String)
    /// A value of type `bytea`.
    case bytes([UInt8])
    /// A value of type `uuid`, of 16 bytes.
    case uuid([UInt8])
    /// A value of type `bigint[]`.
    case integers([Int64])
    /// A value of type `boolean[]`.
    case bools([Bool])
    /// A value of type `text[]`.
    case texts([String])
    /// A value of type `bytea[]`.
    case byteArrays([[UInt8]])
  }

  extension PostgreSQLValue {
    /// The object ID of the value's type, fixed in PostgreSQL's catalogue.
    var type: UInt32 {
      switch self {
      case .null, .bytes: 17
      case .integer: 20
      case .bool: 16
      case .text: 25
      case .uuid: 2950
      case .integers: 1016
      case .bools: 1000
      case .texts: 1009
      case .byteArrays: 1001
      }
    }

    /// Whether the value is `NULL`.
    var isNull: Bool { if case .null = self { true } else { false } }

    /// Appends the value in binary format; nothing for `NULL`.
    func write(to bytes: inout [UInt8]) {
      switch self {
      case .null: break
      case .integer(let value): Self.append(value, &bytes)
      case .bool(let value): bytes.append(value ? 1 : 0)
      case .text(let value): bytes += Self.utf8(value)
      case .bytes(let value), .uuid(let value): bytes += value
      case .integers(let values):
        Self.append(values, of: 20, &bytes) { value, bytes in
          Self.append(Int32(8), &bytes)
          Self.append(value, &bytes)
        }
      case .bools(let values):
        Self.append(values, of: 16, &bytes) { value, bytes in
          Self.append(Int32(1), &bytes)
          bytes.append(value ? 1 : 0)
        }
      case .texts(let values):
        Self.append(values, of: 25, &bytes) { value, bytes in
          let text = Self.utf8(value)
          Self.append(Int32(clamping: text.count), &bytes)
          bytes += text
        }
      case .byteArrays(let values):
        Self.append(values, of: 17, &bytes) { value, bytes in
          Self.append(Int32(clamping: value.count), &bytes)
          bytes += value
        }
      }
    }

    private static func utf8(_ text: String) -> String.UTF8View {
      guard text.utf8.contains(0) else { return text.utf8 }
      return text.replacing("\0", with: "\u{FFFD}").utf8
    }

    private static func append<Number: FixedWidthInteger>(_ value: Number, _ bytes: inout [UInt8]) {
      withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// A one-dimensional array without `NULL`: dimensions, flags, type, count, first index and
    /// members, each with its length.
    private static func append<Value>(
      _ values: [Value], of type: Int32, _ bytes: inout [UInt8],
      _ member: (Value, inout [UInt8]) -> Void
    ) {
      for number in values.isEmpty ? [0, 0, type] : [1, 0, type, Int32(clamping: values.count), 1] {
        append(number, &bytes)
      }
      for value in values { member(value, &bytes) }
    }
  }

  /// A statement with the values of its parameters `$1`, `$2` and so on.
  package struct PostgreSQLStatement: Sendable {
    /// The SQL, which is prepared at its first use on a connection.
    package var sql: String
    /// The values of the parameters.
    package var values: [PostgreSQLValue]

    /// Creates a statement.
    package init(_ sql: String, _ values: [PostgreSQLValue] = []) {
      self.sql = sql
      self.values = values
    }
  }
#endif
