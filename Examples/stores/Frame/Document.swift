import CommandLineKit

/// A JSON object whose fields are listed where it is made; fields that are `nil` are left out.
struct Document: Encodable, Sendable, ExpressibleByDictionaryLiteral {
  private var fields: [String: any Encodable & Sendable] = [:]

  init(dictionaryLiteral fields: (String, (any Encodable & Sendable)?)...) {
    for (name, value) in fields { self[name] = value }
  }

  /// The value of a field.
  subscript(_ name: String) -> (any Encodable & Sendable)? {
    get { fields[name] }
    set { fields[name] = newValue }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: FieldName.self)
    for (name, value) in fields {
      try container.encode(value, forKey: FieldName(stringValue: name))
    }
  }

  private struct FieldName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
  }
}

/// An item as `list`, `watch` and `--json` show it.
struct Row: Sendable {
  var document: Document
  var cells: [Table.Cell]

  init(_ document: Document, _ cells: [Table.Cell]) {
    self.document = document
    self.cells = cells
  }

  /// The cells in one line.
  var words: String { cells.map { printable($0.text) }.joined(separator: "  ") }
}

/// The result of a sync or a measurement: a document for `--json`, and one line of text.
struct SyncReport: Sendable {
  var document: Document
  var words: String

  init(_ document: Document, _ words: String) {
    self.document = document
    self.words = words
  }
}

extension Output {
  /// Prints `rows` as a table, or as a document that has the items in the field `key`.
  ///
  /// - Parameter others: the other fields of the document.
  func list(
    _ key: String, _ rows: [Row], _ columns: [Table.Column], with others: Document = [:],
    empty: @autoclosure () -> String, note: String = ""
  ) throws {
    var document = others
    document[key] = rows.map(\.document)
    try result(document, Table(columns, rows.map(\.cells)), empty: empty(), note: note)
  }
}
