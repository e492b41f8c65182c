import Foundation

/// What follows the question mark of a request, by name.
struct QueryItems: Sendable {
  /// The names, and the values as far as they can be read.
  private var items: [(name: String, value: String?)] = []

  /// Reads a query; an item whose name can't be read is left out.
  init(_ query: String?) {
    for part in (query ?? "").split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = QueryItems.decoded(pair[0]) else { continue }
      items.append((name, pair.count > 1 ? QueryItems.decoded(pair[1]) : ""))
    }
  }

  /// The value of the item called `name`; `nil` when it is not there, there twice, or can't be
  /// read.
  subscript(name: String) -> String? {
    let values = items.filter { $0.name == name }
    return values.count == 1 ? values[0].value : nil
  }

  /// How many items are called `name`.
  func count(_ name: String) -> Int { items.count { $0.name == name } }

  /// A plus sign stays one: the tokens that travel here may hold it, and clients forget to escape
  /// it.
  private static func decoded(_ text: Substring) -> String? {
    String(text).removingPercentEncoding
  }
}
