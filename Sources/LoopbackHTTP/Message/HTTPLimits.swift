/// How much of a request is taken; what is beyond is refused before it is read.
///
/// Source: the threats and rules that every local server has to keep.
package struct HTTPLimits: Hashable, Sendable {
  /// The longest request line, in bytes without its end.
  package var requestLineBytes: Int
  /// The longest header, all fields and their line ends together, in bytes.
  package var headerBytes: Int
  /// The most header fields.
  package var fieldCount: Int
  /// The longest body, in bytes.
  package var bodyBytes: Int

  /// Sets the limits; the defaults fit a server for one machine.
  package init(
    requestLineBytes: Int = 8192, headerBytes: Int = 16384, fieldCount: Int = 100,
    bodyBytes: Int = 64 << 20
  ) {
    self.requestLineBytes = requestLineBytes
    self.headerBytes = headerBytes
    self.fieldCount = fieldCount
    self.bodyBytes = bodyBytes
  }
}
