import Foundation

/// One row of a CSV file, or why it is none.
struct CSVRow: Hashable, Sendable {
  /// The line it begins in, from 1.
  var line: Int
  /// Its fields; none when there is a problem.
  var fields: [String]
  /// What is wrong with it.
  var problem: String?
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

  private let bytes: [UInt8]
  private var index: Int
  private var line = 1

  /// Reads `data`, with or without a byte order mark.
  init(_ data: Data) {
    bytes = Array(data)
    index = data.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  /// The next row that is not blank; `nil` at the end.
  mutating func next() -> CSVRow? {
    while index < bytes.count, isLineEnd(bytes[index]) { skipLineEnd() }
    guard index < bytes.count else { return nil }
    let start = line
    var fields: [String] = []
    while true {
      let field: [UInt8]
      if index < bytes.count, bytes[index] == Self.quote {
        guard let quoted = quotedField() else {
          index = bytes.count
          return CSVRow(
            line: start, fields: [],
            problem: "a quote never ends; everything from here on was skipped")
        }
        field = quoted
        guard index == bytes.count || bytes[index] == Self.comma || isLineEnd(bytes[index]) else {
          return broken(start, "there is text behind a closing quote")
        }
      } else {
        let end =
          bytes[index...].firstIndex { $0 == Self.comma || isLineEnd($0) } ?? bytes.count
        field = Array(bytes[index..<end])
        index = end
        if field.contains(Self.quote) {
          return broken(start, "a quote is inside a field that does not begin with one")
        }
      }
      guard let text = String(validating: field, as: UTF8.self) else {
        return broken(start, "it is no UTF-8 text")
      }
      fields.append(text)
      guard index < bytes.count, bytes[index] == Self.comma else { break }
      index += 1
    }
    skipLineEnd()
    return CSVRow(line: start, fields: fields)
  }

  private func isLineEnd(_ byte: UInt8) -> Bool {
    byte == Self.lineFeed || byte == Self.carriageReturn
  }

  private mutating func skipLineEnd() {
    guard index < bytes.count, isLineEnd(bytes[index]) else { return }
    let isPair =
      bytes[index] == Self.carriageReturn && index + 1 < bytes.count
      && bytes[index + 1] == Self.lineFeed
    index += isPair ? 2 : 1
    line += 1
  }

  /// The content of a field in quotes; `nil` when its quote never ends.
  private mutating func quotedField() -> [UInt8]? {
    index += 1
    var field: [UInt8] = []
    while index < bytes.count {
      let byte = bytes[index]
      if byte == Self.quote {
        index += 1
        guard index < bytes.count, bytes[index] == Self.quote else { return field }
      } else if isLineEnd(byte) {
        let isSecondOfPair =
          byte == Self.lineFeed && bytes[index - 1] == Self.carriageReturn
        if !isSecondOfPair { line += 1 }
      }
      field.append(byte)
      index += 1
    }
    return nil
  }

  private mutating func broken(_ start: Int, _ problem: String) -> CSVRow {
    index = bytes[index...].firstIndex(where: isLineEnd) ?? bytes.count
    skipLineEnd()
    return CSVRow(line: start, fields: [], problem: problem)
  }
}
