import Foundation

/// One row of a CSV file, or why it is none.
struct CSVRow: Hashable, Sendable {
  /// The line it begins in, from 1.
  var line: Int
  /// Its fields; none when there is a problem.
  var fields: [String]
  /// What is wrong with it.
  var problem: CSVProblem?
}

/// The reason why a row is none.
struct CSVProblem: Error, Hashable, CustomStringConvertible {
  var description: String
}

/// Reads the rows of a CSV file as RFC 4180 writes them: fields between commas, in quotes where
/// they hold commas, quotes (doubled) or line ends.
///
/// Lines may end in CRLF, LF or CR. A broken row costs itself and nothing after it, except a quote
/// that never ends, after which nothing can be told apart.
struct CSVRows: Sequence, IteratorProtocol {
  private static let quote = UInt8(ascii: "\"")
  private static let comma = UInt8(ascii: ",")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")

  private var rest: ArraySlice<UInt8>
  private var line = 1

  /// Reads `data`, with or without a byte order mark.
  init(_ data: Data) {
    rest = Array(data)[...]
    if data.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
  }

  /// The next row that is not blank; `nil` at the end.
  mutating func next() -> CSVRow? {
    while let byte = rest.first, isLineEnd(byte) { endLine() }
    guard !rest.isEmpty else { return nil }
    var row = CSVRow(line: line, fields: [])
    do throws(CSVProblem) {
      repeat { row.fields.append(try field()) } while take(Self.comma)
    } catch {
      row = CSVRow(line: row.line, fields: [], problem: error)
      rest = rest.drop { !isLineEnd($0) }
    }
    endLine()
    return row
  }

  private func isLineEnd(_ byte: UInt8) -> Bool {
    byte == Self.lineFeed || byte == Self.carriageReturn
  }

  /// Reads a line end, of one or two bytes, unless the file ends.
  private mutating func endLine() {
    guard let byte = rest.popFirst() else { return }
    if byte == Self.carriageReturn { _ = take(Self.lineFeed) }
    line += 1
  }

  /// Reads the next byte if it is this one.
  private mutating func take(_ byte: UInt8) -> Bool {
    guard rest.first == byte else { return false }
    rest = rest.dropFirst()
    return true
  }

  private mutating func field() throws(CSVProblem) -> String {
    let bytes: [UInt8]
    if take(Self.quote) {
      bytes = try quotedField()
      guard rest.first.map({ $0 == Self.comma || isLineEnd($0) }) ?? true else {
        throw CSVProblem(description: "there is text behind a closing quote")
      }
    } else {
      bytes = Array(rest.prefix { $0 != Self.comma && !isLineEnd($0) })
      rest = rest.dropFirst(bytes.count)
      guard !bytes.contains(Self.quote) else {
        throw CSVProblem(description: "a quote is inside a field that does not begin with one")
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CSVProblem(description: "it is no UTF-8 text")
    }
    return text
  }

  /// The content of a field behind its first quote.
  private mutating func quotedField() throws(CSVProblem) -> [UInt8] {
    var field: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == Self.quote {
        guard take(Self.quote) else { return field }
      } else if isLineEnd(byte), byte != Self.lineFeed || field.last != Self.carriageReturn {
        line += 1
      }
      field.append(byte)
    }
    throw CSVProblem(description: "a quote never ends; everything from here on was skipped")
  }
}
