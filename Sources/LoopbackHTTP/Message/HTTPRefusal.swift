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

  /// The status and the reason.
  package var description: String { "\(status): \(reason)" }
}
