/// What is decided on the head alone, before any body is read.
package enum HTTPAdmission: Sendable {
  /// The request is let in, with a body of up to `bodyBytes` bytes; a longer one is answered with
  /// 413. The limit of ``HTTPLimits`` holds as well.
  case accept(bodyBytes: Int)
  /// The request gets this answer; its body is never read, so that the connection ends with the
  /// answer when there is one.
  case refuse(HTTPResponse)
}
