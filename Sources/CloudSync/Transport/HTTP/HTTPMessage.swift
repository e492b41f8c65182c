/// A request to a web server.
struct HTTPClientRequest: Sendable {
  /// A header field; the name is in lower case.
  struct Field: Hashable, Sendable {
    var name: String
    var value: String
  }

  /// The absolute URL of the endpoint.
  var url: String
  /// The header fields, except those that frame the message.
  var fields: [Field] = []
  /// The body of a `POST`; `nil` makes the request a `GET`.
  var body: [UInt8]?

  /// Adds a field, unless `value` is `nil`.
  mutating func set(_ name: String, _ value: String?) {
    if let value { fields.append(Field(name: name, value: value)) }
  }
}

/// A response of a web server.
struct HTTPClientResponse: Hashable, Sendable {
  /// The status code.
  var status: Int
  /// The header fields in the order received; names are in lower case.
  var fields: [HTTPClientRequest.Field] = []
  /// The body without its framing.
  var body: [UInt8] = []

  /// The value of the first field called `name`, which must be in lower case.
  func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
}
