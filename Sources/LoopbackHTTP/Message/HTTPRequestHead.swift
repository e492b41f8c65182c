/// Everything of a request before its body.
package struct HTTPRequestHead: Hashable, Sendable {
  /// One header field; the name in lower case, the value without blanks around it.
  package struct Field: Hashable, Sendable {
    /// The name, in lower case.
    package var name: String
    /// The value.
    package var value: String

    /// A field with a name in lower case.
    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// How the body's end is found.
  package enum Framing: Hashable, Sendable {
    /// It has this many bytes; 0 for a request without a body.
    case length(Int)
    /// It comes in chunks.
    case chunked
  }

  /// The method, such as `POST`.
  package var method: String
  /// The path, as it was sent, without the query.
  package var path: String
  /// What follows the question mark; `nil` when there is none.
  package var query: String?
  /// The minor version of HTTP/1: 0 or 1.
  package var minorVersion: Int
  /// The header fields, in the order sent.
  package var fields: [Field]
  /// How the body's end is found.
  package var framing: Framing = .length(0)
  /// Whether the client waits for a word before it sends the body.
  package var expectsContinue = false
  /// Whether another request may follow on the connection.
  package var keepsAlive = true

  /// Puts a head together; how it is framed is settled when it is read.
  package init(
    method: String, path: String, query: String?, minorVersion: Int, fields: [Field]
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.minorVersion = minorVersion
    self.fields = fields
  }

  /// The values of the field `name`, given in lower case.
  package func values(_ name: String) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }

  /// The value of the field `name`, given in lower case, when it is there exactly once.
  package func value(_ name: String) -> String? {
    let values = values(name)
    return values.count == 1 ? values[0] : nil
  }
}
