/// The decision about a request, made on its head before the body is read.
package enum HTTPAdmission: Sendable {
  /// The request is accepted with a body of up to `bodyBytes` bytes; a longer body gets 413. The
  /// limit in ``HTTPLimits`` applies as well.
  case accept(bodyBytes: Int)
  /// The request is accepted with a body of up to `bytes` bytes, which is passed on as a file; the
  /// limit in ``HTTPLimits`` does not apply.
  case acceptFile(bytes: Int)
  /// As `accept`, unless `check` returns a response, which refuses the request.
  ///
  /// The check may take any time: it runs on another thread, and the body is read after it.
  case acceptAfter(check: @Sendable () async -> HTTPResponse?, bodyBytes: Int)
  /// The request gets this response. Its body is not read: if there is one, the connection is
  /// closed after the response.
  case refuse(HTTPResponse)
}
