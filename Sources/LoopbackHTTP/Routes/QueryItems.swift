import Foundation

/// What follows the question mark of a request, by name.
///
/// Read when it is asked for: a request has few items, and most are of no interest here.
struct QueryItems: Sendable {
  private let query: String

  init(_ query: String?) { self.query = query ?? "" }

  /// The value of the item called `name`; `nil` when it is not there, there twice, or can't be
  /// read.
  ///
  /// A plus sign stays one: the tokens that travel here may hold it, and clients forget to escape
  /// it.
  subscript(name: String) -> String? {
    var found: Substring.UTF8View?
    for item in query.utf8.split(separator: UInt8(ascii: "&")) {
      guard item.starts(with: name.utf8) else { continue }
      let rest = item.dropFirst(name.utf8.count)
      guard rest.isEmpty || rest.first == UInt8(ascii: "=") else { continue }
      if found != nil { return nil }
      found = rest.dropFirst()
    }
    return found.flatMap { value in
      let text = String(Substring(value))
      return value.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding : text
    }
  }
}
