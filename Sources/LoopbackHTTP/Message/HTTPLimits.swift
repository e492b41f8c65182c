/// The size limits of a request; a larger request is rejected before it is read.
///
/// The limits bound the memory that a client can make the server use.
package struct HTTPLimits: Hashable, Sendable {
  /// The maximum length of the request line in bytes, without its line end.
  package var requestLineBytes: Int
  /// The maximum size of the header in bytes: all fields with their line ends.
  package var headerBytes: Int
  /// The maximum number of header fields.
  package var fieldCount: Int
  /// The maximum size in bytes of a body that is kept in memory.
  package var bodyBytes: Int

  /// Sets the limits; the defaults suit a server for one machine.
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
