/// Why a request is not taken: the status to answer with, and a sentence for the one who sent it.
///
/// After a refusal the connection is closed, since nobody can tell where the next request begins.
package struct HTTPRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The status code, 400 to 599.
  package var status: Int
  /// What is wrong with the request, without anything of its content.
  package var reason: String

  /// Refuses with `status`, because of `reason`.
  package init(_ status: Int, _ reason: String) {
    self.status = status
    self.reason = reason
  }

  /// What CloudKit Web Services call a failure with this status.
  var code: String {
    switch status {
    case 401: "AUTHENTICATION_FAILED"
    case 403: "ACCESS_DENIED"
    case 404: "NOT_FOUND"
    case 429: "THROTTLED"
    case 500: "INTERNAL_ERROR"
    case 503: "TRY_AGAIN_LATER"
    default: "BAD_REQUEST"
    }
  }

  /// The status and the reason.
  package var description: String { "\(status): \(reason)" }
}
