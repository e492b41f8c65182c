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
    let values = values(name)
    guard values.count == 1 else { return nil }
    let text = String(Substring(values[0]))
    return values[0].contains(UInt8(ascii: "%")) ? text.removingPercentEncoding : text
  }

  /// How many items are called `name`.
  func count(_ name: String) -> Int { values(name).count }

  private func values(_ name: String) -> [Substring.UTF8View] {
    query.utf8.split(separator: UInt8(ascii: "&")).compactMap { item in
      guard item.starts(with: name.utf8) else { return nil }
      let rest = item.dropFirst(name.utf8.count)
      return rest.isEmpty || rest.first == UInt8(ascii: "=") ? rest.dropFirst() : nil
    }
  }
}
