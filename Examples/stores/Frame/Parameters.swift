import CommandLineKit
import Foundation
import SyncSupport

/// The item of an app that a word of the command line names.
struct NamedItem<App: StoreApp, Item: Sendable>: Sendable {
  /// The noun for the word in the error for a missing one, such as `the tab's ID`.
  let what: String

  /// Finds the item; throws `ToolError`.
  let find: @Sendable (App, String) throws -> Item

  init(_ what: String, find: @escaping @Sendable (App, String) throws -> Item) {
    self.what = what
    self.find = find
  }
}

extension NamedItem where Item: Identifiable<UUID> {
  /// One of the items in `items`, named by the beginning of its ID.
  init(_ what: String, _ noun: String, in items: @escaping @Sendable (App) -> [Item]) {
    self.init(what) { app, prefix in try StoresTool.find(prefix, in: items(app), noun) }
  }
}

extension Parameter {
  /// A required word that `parse` understands.
  ///
  /// - Parameters:
  ///   - what: the noun for the word in the error for a missing one.
  ///   - rule: the sentence that says which words are allowed.
  static func word(
    _ what: String, _ rule: String, parse: @escaping @Sendable (String) -> Value?
  ) -> Self {
    Parameter { try checked($0.word(what), rule, parse) }
  }

  /// The next word, if there is one, that `parse` understands.
  static func optionalWord<Wrapped>(
    _ rule: String, parse: @escaping @Sendable (String) -> Wrapped?
  ) -> Self where Value == Wrapped? {
    Parameter { try $0.word().map { try checked($0, rule, parse) } }
  }

  /// The value of an option that `parse` understands, if it is given.
  static func option<Wrapped>(
    _ name: String, _ rule: String, parse: @escaping @Sendable (String) -> Wrapped?
  ) -> Self where Value == Wrapped? {
    Parameter { try $0.value(name).map { try checked($0, rule, parse) } }
  }
}

extension Parameter where Value == URL {
  /// A required link; `what` is the noun for it in the error for a missing one.
  static func link(_ what: String) -> Self {
    Parameter { arguments in
      let text = try arguments.word(what)
      guard let url = URL(string: text), url.scheme != nil else {
        throw UsageError("\(quoted(text)) is no link")
      }
      return url
    }
  }
}

/// The value of a word of the command line.
///
/// - Parameter rule: the sentence that says which words are allowed.
/// - Throws: `UsageError` if `parse` does not understand it.
func checked<Value>(
  _ word: String, _ rule: String, _ parse: (String) -> Value?
) throws(UsageError) -> Value {
  guard let value = parse(word) else { throw UsageError("\(rule), not \(quoted(word))") }
  return value
}

/// A whole number that is not negative.
@Sendable func wholeNumber(_ text: String) -> Int? { Int(text).flatMap { $0 < 0 ? nil : $0 } }

/// The beginnings of a few IDs, for the message about an unknown one.
private func listing(_ ids: [String]) -> String {
  guard !ids.isEmpty else { return "there are none" }
  let first = ids.prefix(5).map { String($0.prefix(8)) }.joined(separator: ", ")
  return ids.count > 5 ? "there are \(first) and \(ids.count - 5) more" : "there are \(first)"
}

/// The one item whose ID starts with `prefix`.
///
/// - Throws: `ToolError` if there is none, or more than one.
func find<Item>(
  _ prefix: String, in items: [Item], _ what: String, id: (Item) -> String
) throws(ToolError) -> Item {
  let wanted = prefix.uppercased()
  let found = wanted.isEmpty ? [] : items.filter { id($0).hasPrefix(wanted) }
  guard let item = found.first else {
    throw ToolError(
      "there is no \(what) with the ID \(quoted(prefix)); \(listing(items.map(id)))",
      code: ExitCode.unknownName)
  }
  guard found.count == 1 else {
    throw ToolError(
      "\(quoted(prefix)) is the beginning of \(found.count) \(what) IDs; give more of it")
  }
  return item
}

/// The one item whose ID starts with `prefix`.
func find<Item: Identifiable<UUID>>(
  _ prefix: String, in items: [Item], _ what: String
) throws(ToolError) -> Item {
  try find(prefix, in: items, what) { $0.id.uuidString }
}

extension Output {
  /// Prints an item and the change that a command made to it, such as `added`.
  func result(_ change: String, _ row: Row) throws {
    try result(row.document, "\(change) \(row.words)")
  }

  /// Prints an item's ID and the change that a command made to it, such as `deleted`.
  func result(_ change: String, _ id: UUID) throws {
    try result([change: id.uuidString], "\(change) \(id)")
  }

  func result(_ report: SyncReport) throws { try result(report.document, report.words) }
}
