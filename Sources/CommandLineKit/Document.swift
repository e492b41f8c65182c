/// A JSON object whose fields are listed where it is made; fields that are `nil` are left out.
package struct Document: Encodable, Sendable, ExpressibleByDictionaryLiteral {
  private var fields: [String: any Encodable & Sendable] = [:]

  /// Creates an object with these fields.
  package init(dictionaryLiteral fields: (String, (any Encodable & Sendable)?)...) {
    for (name, value) in fields { self[name] = value }
  }

  /// The value of a field.
  package subscript(_ name: String) -> (any Encodable & Sendable)? {
    get { fields[name] }
    set { fields[name] = newValue }
  }

  /// Encodes the fields as the members of an object.
  package func encode(to encoder: any Encoder) throws {
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

/// An item as a list and `--json` show it.
package struct Row: Sendable {
  /// The item for `--json`.
  package var document: Document
  /// The item in a table.
  package var cells: [Table.Cell]

  /// An item as a document and as the cells of a table.
  package init(_ document: Document, _ cells: [Table.Cell]) {
    self.document = document
    self.cells = cells
  }

  /// The cells in one line.
  package var words: String { cells.map { printable($0.text) }.joined(separator: "  ") }
}

extension Output {
  /// Prints `rows` as a table, or as a document that has the items in the field `key`.
  ///
  /// - Parameter others: the other fields of the document.
  package func list(
    _ key: String, _ rows: [Row], _ columns: [Table.Column], with others: Document = [:],
    empty: @autoclosure () -> String, note: String = ""
  ) throws {
    var document = others
    document[key] = rows.map(\.document)
    try result(document, Table(columns, rows.map(\.cells)), empty: empty(), note: note)
  }
}
