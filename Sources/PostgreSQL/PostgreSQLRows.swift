#if PostgreSQL
  import CLibPQ

  /// The rows that a statement returned, in binary format.
  package final class PostgreSQLRows {
    private let result: OpaquePointer
    /// The number of rows.
    package let count: Int

    /// Takes over a result of the library.
    init(_ result: OpaquePointer) {
      self.result = result
      count = Int(PQntuples(result))
    }

    deinit { PQclear(result) }

    /// What the server did, such as `COMMIT`; `ROLLBACK` for a `COMMIT` of a failed transaction.
    package var command: String { PQcmdStatus(result).map { String(cString: $0) } ?? "" }

    /// All rows.
    package var rows: [Row] { (0..<count).map { Row(rows: self, number: Int32(clamping: $0)) } }

    /// The results of `body` for every row.
    package func map<Value>(_ body: (Row) throws -> Value) rethrows -> [Value] {
      try rows.map(body)
    }

    /// The result of `body` for the first row; `nil` if there is none.
    package func first<Value>(_ body: (Row) throws -> Value) rethrows -> Value? {
      count == 0 ? nil : try body(Row(rows: self, number: 0))
    }

    /// One row; reads are exact: a column of another type or length is an error.
    package struct Row {
      fileprivate let rows: PostgreSQLRows
      fileprivate let number: Int32

      /// Whether column `index`, from 0, is `NULL`.
      package func isNull(_ index: Int32) -> Bool {
        PQgetisnull(rows.result, number, index) == 1
      }

      /// The `bigint` in column `index`, from 0.
      package func integer(_ index: Int32) throws(PostgreSQLError) -> Int64 {
        try read(index, type: 20) { bytes in
          bytes.count == 8 ? bytes.reduce(Int64(0)) { $0 << 8 | Int64($1) } : nil
        }
      }

      /// The `boolean` in column `index`, from 0.
      package func bool(_ index: Int32) throws(PostgreSQLError) -> Bool {
        try read(index, type: 16) { $0.count == 1 ? $0[0] == 1 : nil }
      }

      /// The `text` in column `index`, from 0.
      package func text(_ index: Int32) throws(PostgreSQLError) -> String {
        try read(index, type: 25) { String(validating: $0, as: UTF8.self) }
      }

      /// The `bytea` in column `index`, from 0.
      package func bytes(_ index: Int32) throws(PostgreSQLError) -> [UInt8] {
        try read(index, type: 17) { Array($0) }
      }

      private func read<Value>(
        _ index: Int32, type: UInt32, _ body: (UnsafeBufferPointer<UInt8>) -> Value?
      ) throws(PostgreSQLError) -> Value {
        guard PQftype(rows.result, index) == type, !isNull(index),
          let start = PQgetvalue(rows.result, number, index)
        else {
          throw PostgreSQLError(state: "XX001", "column \(index) holds a value of another type")
        }
        let count = Int(PQgetlength(rows.result, number, index))
        let value = start.withMemoryRebound(to: UInt8.self, capacity: count) {
          body(UnsafeBufferPointer(start: $0, count: count))
        }
        guard let value else {
          throw PostgreSQLError(state: "XX001", "column \(index) holds a value of another form")
        }
        return value
      }
    }
  }
#endif
