package import CloudProtocol

/// A complete request, as passed to a handler.
package struct HTTPRequest: Sendable {
  /// The request line and the header fields.
  package var head: HTTPRequestHead
  /// The body without its transfer coding, never longer than the admission allowed; empty if it is
  /// in `file`.
  package var body: [UInt8]
  /// The body of a request that was admitted with ``HTTPAdmission/acceptFile(bytes:)``.
  package var file: AssetContent?

  /// Creates a request from a head and a body.
  package init(head: HTTPRequestHead, body: [UInt8] = [], file: AssetContent? = nil) {
    self.head = head
    self.body = body
    self.file = file
  }

  /// The number of bytes of the body.
  var bodyCount: Int { file?.count ?? body.count }
}
