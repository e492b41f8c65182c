/// A note of the app that the bench plays.
struct SpikeNote: Sendable {
  var name: String
  var text: String
  var position: Int
  var isDone: Int
  var modified: Double
}

/// A record of the spike: a name, a type and fields.
struct SpikeRecord: Sendable {
  enum Value: Sendable {
    case text(String)
    case number(Double)
  }

  struct Field: Sendable {
    var key: String
    var value: Value
  }

  var name: String
  var type: String
  var fields: [Field]

  init(name: String = "", type: String = "", fields: [Field] = []) {
    (self.name, self.type, self.fields) = (name, type, fields)
  }

  init(_ note: SpikeNote) {
    self.init(
      name: note.name, type: "Note",
      fields: [
        Field(key: "isDone", value: .number(Double(note.isDone))),
        Field(key: "lastModified", value: .number(note.modified)),
        Field(key: "position", value: .number(Double(note.position))),
        Field(key: "text", value: .text(note.text)),
      ])
  }
}
