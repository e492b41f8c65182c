/// A whole request: what a handler answers.
package struct HTTPRequest: Sendable {
  /// Everything before the body.
  package var head: HTTPRequestHead
  /// The body, without its transfer coding; never longer than its admission said.
  package var body: [UInt8]

  /// A request of a head and a body.
  package init(head: HTTPRequestHead, body: [UInt8] = []) {
    self.head = head
    self.body = body
  }
}
