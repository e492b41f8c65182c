import Foundation

// NSObject has key-value coding where there is Objective-C, and nothing of it elsewhere.
#if canImport(ObjectiveC)
  extension CKRecord {
    /// Sets the plain field `key`, or removes it with `nil`.
    public override func setValue(_ value: Any?, forKey key: String) { setField(value, key) }

    /// The value of the plain field `key`, or of the property of that name when there is no field.
    public override func value(forKey key: String) -> Any? { fieldOrProperty(key) }

    /// Sets several plain fields; `NSNull` removes one.
    public override func setValuesForKeys(_ keyedValues: [String: Any]) { setFields(keyedValues) }

    /// The values of the plain fields `keys`; `NSNull` where there is none.
    public override func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
      fieldsOrProperties(keys)
    }
  }
#else
  extension CKRecord {
    /// Sets the plain field `key`, or removes it with `nil`.
    public func setValue(_ value: Any?, forKey key: String) { setField(value, key) }

    /// The value of the plain field `key`, or of the property of that name when there is no field.
    public func value(forKey key: String) -> Any? { fieldOrProperty(key) }

    /// Sets several plain fields; `NSNull` removes one.
    public func setValuesForKeys(_ keyedValues: [String: Any]) { setFields(keyedValues) }

    /// The values of the plain fields `keys`; `NSNull` where there is none.
    public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
      fieldsOrProperties(keys)
    }
  }
#endif

extension CKRecord {
  private func setField(_ value: Any?, _ key: String) {
    guard let value, !isAbsent(value) else { return setObject(nil, forKey: key) }
    let list = (value as? [Any]).map { NSArray(array: $0) }
    guard let storable = list ?? (value as? any CKRecordValueProtocol) else {
      preconditionFailure(
        "CKRecord: a value of type \(type(of: value)) cannot be stored in the field \"\(key)\".")
    }
    setObject(storable, forKey: key)
  }

  private func fieldOrProperty(_ key: String) -> Any? { object(forKey: key) ?? property(key) }

  /// The value of the property called `name`; `nil` if there is none.
  func property(_ name: String) -> Any? {
    switch name {
    case "recordID": return recordID
    case "recordType": return recordType
    case "recordChangeTag": return recordChangeTag
    case "creationDate": return creationDate
    case "creatorUserRecordID": return creatorUserRecordID
    case "modificationDate": return modificationDate
    case "lastModifiedUserRecordID": return lastModifiedUserRecordID
    case "parent": return parent
    case "share": return share
    default: return nil
    }
  }

  private func setFields(_ values: [String: Any]) {
    for (key, value) in values { setField(value is NSNull ? nil : value, key) }
  }

  private func fieldsOrProperties(_ keys: [String]) -> [String: Any] {
    Dictionary(keys.map { ($0, fieldOrProperty($0) ?? NSNull()) }) { $1 }
  }

  /// Whether `value` is an optional without a value that was wrapped as `Any`.
  private func isAbsent(_ value: Any) -> Bool {
    let mirror = Mirror(reflecting: value)
    return mirror.displayStyle == .optional && mirror.children.isEmpty
  }

  /// The words of all plain texts, for searching: lower case, without accents, each once.
  public func allTokens() -> [String] {
    var tokens: [String] = []
    for (_, value) in self {
      let texts = (value as? [String]) ?? (value as? String).map { [$0] } ?? []
      tokens += texts.flatMap(PredicateText.words)
    }
    return tokens.withoutRepetitions
  }
}
