/// A complete request, as passed to a handler.
package struct HTTPRequest: Sendable {
  /// The request line and the header fields.
  package var head: HTTPRequestHead
  /// The body without its transfer coding; never longer than the admission allowed.
  package var body: [UInt8]

  /// Creates a request from a head and a body.
  package init(head: HTTPRequestHead, body: [UInt8] = []) {
    self.head = head
    self.body = body
  }
}
