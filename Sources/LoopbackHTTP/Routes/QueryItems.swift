import Foundation

/// The items of a query string, by name.
///
/// Split once; values are decoded when they are read.
struct QueryItems: Sendable {
  private struct Item: Sendable {
    var name: Substring.UTF8View
    var value: Substring.UTF8View
  }

  private let items: [Item]

  init(_ query: String?) {
    items = (query ?? "").utf8.split(separator: UInt8(ascii: "&")).map { item in
      let end = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
      return Item(name: item[..<end], value: item[end...].dropFirst())
    }
  }

  /// The value of the item called `name`; `nil` when it is missing, duplicated or malformed.
  subscript(name: String) -> String? {
    let values = values(name)
    return values.count == 1 ? QueryItems.decoded(values[0]) : nil
  }

  /// Decodes a name or a value: a plus sign is a space, as in form encoding; `nil` when the
  /// percent-encoded bytes are not UTF-8.
  static func decoded(_ text: Substring.UTF8View) -> String? {
    let text =
      text.contains(UInt8(ascii: "+"))
      ? String(Substring(text)).replacing("+", with: " ") : String(Substring(text))
    return text.utf8.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding : text
  }

  /// The number of items called `name`.
  func count(_ name: String) -> Int { values(name).count }

  private func values(_ name: String) -> [Substring.UTF8View] {
    items.compactMap { $0.name.elementsEqual(name.utf8) ? $0.value : nil }
  }
}
