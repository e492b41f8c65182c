/// What is asked of a web server.
struct HTTPQuestion: Sendable {
  /// A header field; the name in small letters.
  struct Field: Hashable, Sendable {
    var name: String
    var value: String
  }

  /// Where to, as text.
  var url: String
  /// The header fields besides those that frame the message.
  var fields: [Field] = []
  /// What to post; `nil` to get.
  var body: [UInt8]?

  /// Adds a field, if there is a value for it.
  mutating func set(_ name: String, _ value: String?) {
    if let value { fields.append(Field(name: name, value: value)) }
  }
}

/// What a web server answered.
struct HTTPAnswer: Hashable, Sendable {
  /// The status code.
  var status: Int
  /// The header fields in their order; names in small letters.
  var fields: [HTTPQuestion.Field] = []
  /// The body, freed from its framing.
  var body: [UInt8] = []

  /// The first field called `name`, which is in small letters.
  func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
}
