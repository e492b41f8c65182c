#if PostgreSQL
  /// A parameter of a statement, sent in PostgreSQL's binary format.
  package enum PostgreSQLValue: Sendable {
    /// `NULL`, as a value of type `bytea`.
    case null
    /// A value of type `bigint`.
    case integer(Int64)
    /// A value of type `boolean`.
    case bool(Bool)
    /// A value of type `text`.
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
    /// A value of type `uuid[]`.
    case uuids([[UInt8]])
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
      case .uuids: 2951
      }
    }

    /// The value in binary format; `nil` for `NULL`.
    var bytes: [UInt8]? {
      switch self {
      case .null: nil
      case .integer(let value): Self.bigEndian(value)
      case .bool(let value): [value ? 1 : 0]
      case .text(let value): Array(value.utf8)
      case .bytes(let value), .uuid(let value): value
      case .integers(let values):
        Self.array(values, of: 20) { Self.append(Self.bigEndian($1), &$0) }
      case .bools(let values):
        Self.array(values, of: 16) { Self.append(CollectionOfOne($1 ? 1 : 0), &$0) }
      case .texts(let values): Self.array(values, of: 25) { Self.append($1.utf8, &$0) }
      case .byteArrays(let values): Self.array(values, of: 17) { Self.append($1, &$0) }
      case .uuids(let values): Self.array(values, of: 2950) { Self.append($1, &$0) }
      }
    }

    private static func bigEndian<Number: FixedWidthInteger>(_ value: Number) -> [UInt8] {
      withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    /// A one-dimensional array without `NULL`: dimensions, flags, type, count, first index and
    /// members.
    private static func array<Value>(
      _ values: [Value], of type: Int32, _ append: (inout [UInt8], Value) -> Void
    ) -> [UInt8] {
      var bytes = [UInt8]()
      for number in values.isEmpty ? [0, 0, type] : [1, 0, type, Int32(clamping: values.count), 1] {
        bytes += bigEndian(number)
      }
      for value in values { append(&bytes, value) }
      return bytes
    }

    private static func append(_ member: some Collection<UInt8>, _ bytes: inout [UInt8]) {
      bytes += bigEndian(Int32(clamping: member.count))
      bytes += member
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
