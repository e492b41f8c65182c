import Records
import Synchronization

extension CKRecord {
  /// The encrypted fields, which can be read only here.
  ///
  /// A field is either encrypted or plain: setting one here removes the plain field of that name.
  public var encryptedValues: any CKRecordKeyValueSetting & Sendable {
    CKEncryptedValues(record: self)
  }

  /// Iterates over the plain fields in the order of their names.
  public func makeIterator() -> CKRecordKeyValueIterator {
    let (fields, oversized) = state.withLock { ($0.record.fields, $0.oversized) }
    var values = fields.filter { !$0.field.isEncrypted }.map { ($0.key, $0.field.value.boxed) }
    if !oversized.isEmpty {
      values += oversized.filter { !$0.value.isEncrypted }.map { ($0.key, $0.value.boxed) }
      values.sort { $0.0 < $1.0 }
    }
    return CKRecordKeyValueIterator(values: values.makeIterator())
  }

  /// The value of an encrypted or plain field.
  package func object(
    forKey key: FieldKey, encrypted: Bool
  ) -> (any CKRecordValueProtocol)? {
    let (field, oversized) = state.withLock { ($0.record.fields[key], $0.oversized[key]) }
    if let oversized, oversized.isEncrypted == encrypted { return oversized.boxed }
    guard let field, field.isEncrypted == encrypted else { return nil }
    return field.value.boxed
  }

  /// Sets or removes an encrypted or plain field and marks it as changed.
  ///
  /// A whole number above `Int64.max` is kept here and refused when the record is saved.
  package func setObject(
    _ object: (any CKRecordValueProtocol)?, forKey key: FieldKey, encrypted: Bool
  ) {
    precondition(
      CKRecord.isValid(key: key),
      """
      CKRecord: "\(key)" is not a valid field name; use up to 255 letters, digits and \
      underscores (ASCII), starting with a letter.
      """)
    guard let object else { return removeObject(forKey: key, encrypted: encrypted) }
    guard let value = FieldValue(object) else {
      if let oversized = OversizedValue(object, isEncrypted: encrypted) {
        return state.withLock { state in
          state.record.fields[key] = nil
          state.oversized[key] = oversized
          state.changedKeys.insert(key)
        }
      }
      preconditionFailure(
        """
        CKRecord: a value of type \(type(of: object)) cannot be stored in the field "\(key)"; \
        use text, numbers, dates, data, references, assets, places, or lists of these.
        """)
    }
    precondition(
      !encrypted || value.canBeEncrypted,
      "CKRecord: \"\(key)\" is encrypted; references and assets cannot be stored there.")
    state.withLock { state in
      state.oversized[key] = nil
      state.record.fields[key] = Field(value, isEncrypted: encrypted)
      state.changedKeys.insert(key)
    }
  }

  private func removeObject(forKey key: FieldKey, encrypted: Bool) {
    state.withLock { state in
      if let field = state.record.fields[key], field.isEncrypted != encrypted { return }
      if let value = state.oversized[key], value.isEncrypted != encrypted { return }
      state.oversized[key] = nil
      state.record.fields[key] = nil
      state.changedKeys.insert(key)
    }
  }

  /// The names of the encrypted or plain fields, ascending.
  package func keys(encrypted: Bool) -> [FieldKey] {
    state.withLock { state in
      let keys = state.record.fields.filter { $0.field.isEncrypted == encrypted }.map(\.key)
      guard !state.oversized.isEmpty else { return keys }
      return (keys + state.oversized.filter { $0.value.isEncrypted == encrypted }.keys).sorted()
    }
  }

  /// The names of the encrypted fields that were touched, ascending; also of those that the server
  /// has and that were removed here.
  func changedEncryptedKeys() -> [FieldKey] {
    state.withLock { state in
      state.changedKeys.filter { key in
        if let value = state.oversized[key] { return value.isEncrypted }
        return (state.record.fields[key] ?? state.base?[key])?.isEncrypted ?? false
      }.sorted()
    }
  }

  /// Whether a field can have this name: a letter or underscore, then letters, digits,
  /// underscores and dollar signs, all ASCII, at most 255; or one of the system's own names.
  ///
  /// See CS-10 and CS-11.
  package static func isValid(key: String) -> Bool {
    let name = key.hasPrefix("cloudkit.") ? key.dropFirst(9) : Substring(key)
    guard let first = name.utf8.first, key.utf8.count <= 255 else { return false }
    func isLetter(_ byte: UInt8) -> Bool {
      (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x5f
    }
    return isLetter(first)
      && name.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x24 }
  }
}

extension FieldValue {
  /// Whether an encrypted field can hold this value.
  fileprivate var canBeEncrypted: Bool {
    switch self {
    case .reference, .asset: false
    case .list(let values): values.allSatisfy(\.canBeEncrypted)
    case .string, .int64, .double, .date, .bytes, .location: true
    }
  }
}

/// Iterates over the plain fields of a record, in the order of their names.
public struct CKRecordKeyValueIterator: IteratorProtocol {
  fileprivate var values: IndexingIterator<[(String, any CKRecordValueProtocol)]>

  /// The next field's name and value.
  public mutating func next() -> (String, any CKRecordValueProtocol)? { values.next() }
}
