import WebServices

extension FuzzTarget {
  /// JSON itself.
  static let json = FuzzTarget(name: "json") { input, planted in
    guard let value = try? JSON(parsing: input.rest) else { return }
    let bytes = value.bytes
    let again = try JSON(parsing: bytes)
    try check(again == value, "another value when written and read")
    try check(again.bytes == bytes, "another text when written twice")
    try check(try JSON(parsing: Array(value.indented.utf8)) == value, "another value for people")
    try check(!bytes.contains { $0 < 0x20 }, "a control character in what is written")
    if let text = value["key"]?.string { try plant(planted, text.utf8) }
  }
}
