import Records

/// The value of a record's field in the forms that filters use.
///
/// Each form is computed once, when the first filter needs it.
struct ExaminedField {
  /// The value; `nil` if the record has no queryable value.
  let value: FieldValue?
  /// The values whose words are searched.
  private let searched: [FieldValue]

  /// The comparable form of the value.
  private(set) lazy var comparable: QueryValue? = value.flatMap { QueryValue($0) }
  /// The members of a list that have an order; `nil` for anything but a list.
  private(set) lazy var members: [QueryValue]? = value?.members
  /// The words.
  private(set) lazy var words: Set<String> = {
    var words: Set<String> = []
    for value in searched {
      for text in value.texts { words.formUnion(TextTokens.all(in: text)) }
    }
    return words
  }()

  /// The value of `field` in `record`.
  init(_ field: QueryField, of record: Record) {
    value = field.value(in: record)
    searched = value.map { [$0] } ?? []
  }

  /// The words of the whole record, except the fields in `unsearchable`.
  init(wordsOf record: Record, except unsearchable: Set<String>) {
    value = nil
    var searched: [FieldValue] = []
    for element in record.fields
    where !element.field.isEncrypted && !unsearchable.contains(element.key) {
      searched.append(element.field.value)
    }
    self.searched = searched
  }
}

/// A record whose fields are examined once for all the queries that it is compared with.
struct ExaminedRecord {
  let record: Record
  private let type: RecordTypeRow?
  private var fields: [(field: QueryField?, examined: ExaminedField)] = []

  /// - Parameter type: the row of the record's type, which says what a search of the whole record
  ///   omits.
  init(_ record: Record, type: RecordTypeRow?) {
    self.record = record
    self.type = type
  }

  /// Calls `body` with a field, or with the words of the whole record for `nil`.
  mutating func withField(
    _ field: QueryField?, _ body: (inout ExaminedField) -> Bool
  ) -> Bool {
    let place = fields.firstIndex { $0.field == field } ?? fields.endIndex
    if place == fields.endIndex { fields.append((field, examined(field))) }
    return body(&fields[place].examined)
  }

  private func examined(_ field: QueryField?) -> ExaminedField {
    if let field { return ExaminedField(field, of: record) }
    let unsearchable = (type?.fields ?? []).filter { !$0.indexes.contains(.searchable) }
    return ExaminedField(wordsOf: record, except: Set(unsearchable.map(\.key)))
  }
}

extension FieldValue {
  /// The members of a list that have an order; `nil` for anything but a list.
  fileprivate var members: [QueryValue]? {
    guard case .list(let values) = self else { return nil }
    return values.compactMap { QueryValue($0) }
  }

  /// The text, or the texts of a list.
  var texts: [String] {
    switch self {
    case .string(let text): [text]
    case .list(let values): values.flatMap(\.texts)
    case .int64, .double, .date, .bytes, .reference, .asset, .location: []
    }
  }
}
