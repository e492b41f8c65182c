/// The rejection of a request: the status of the response, and a message for the client.
///
/// After a rejection by the parser the connection is closed, because the start of the next request
/// is unknown.
package struct HTTPRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The status code, 400 to 599.
  package var status: Int
  /// The error message, without any content of the request.
  package var reason: String
  /// The index of the action in the body that was refused; `nil` if the body is not a list.
  package var index: Int?

  /// Creates a rejection.
  package init(_ status: Int, _ reason: String) {
    self.status = status
    self.reason = reason
  }

  /// The rejection because of the item at `index` of a list in the body.
  func inItem(_ index: Int) -> HTTPRefusal {
    var refusal = self
    refusal.index = index
    return refusal
  }

  /// The error code of CloudKit Web Services for this status.
  var code: String {
    switch status {
    case 401: "AUTHENTICATION_FAILED"
    case 403: "ACCESS_DENIED"
    case 404: "NOT_FOUND"
    case 429: "THROTTLED"
    case 500: "INTERNAL_ERROR"
    case 408, 503: "TRY_AGAIN_LATER"
    default: "BAD_REQUEST"
    }
  }

  /// The status and the reason.
  package var description: String { "\(status): \(reason)" }
}
