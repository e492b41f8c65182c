/// Finds the end of plain text, eight bytes at a time.
///
/// Plain text needs no escaping in JSON and is one byte per character in UTF-8: printable ASCII
/// except quotation marks and backslashes.
enum PlainText {
  /// The number of plain bytes from `start` on.
  static func count(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    let raw = UnsafeRawBufferPointer(bytes)
    var index = start
    while index + 8 <= raw.count {
      let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      let marks = marks(word)
      if marks != 0 { return index + marks.trailingZeroBitCount / 8 - start }
      index += 8
    }
    while index < raw.count, isPlain(raw[index]) { index += 1 }
    return index - start
  }

  /// The highest bit of the first byte that is not plain is set, and none before it.
  private static func marks(_ word: UInt64) -> UInt64 {
    let highs: UInt64 = 0x8080_8080_8080_8080
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ 0x2222_2222_2222_2222
    let backslashes = word ^ 0x5C5C_5C5C_5C5C_5C5C
    let deletes = word ^ 0x7F7F_7F7F_7F7F_7F7F
    let controls = (word &- 0x2020_2020_2020_2020) & ~word
    let others =
      ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
      | ((deletes &- ones) & ~deletes)
    return (controls | others | word) & highs
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }
}
