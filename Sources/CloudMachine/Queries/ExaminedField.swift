import Records

/// What one record has in one field, in the forms that filters look at.
///
/// A form is made when the first filter needs it, and once for all filters on the field.
struct ExaminedField {
  /// The value; `nil` where the record has none that can be looked at.
  let value: FieldValue?
  /// The values whose words are searched.
  private let searched: [FieldValue]

  /// What the value compares by.
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

  /// What `record` has in `field`.
  init(_ field: QueryField, of record: Record) {
    value = field.value(in: record)
    searched = value.map { [$0] } ?? []
  }

  /// The words of the whole record, those of the fields called `unsearchable` left out.
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
