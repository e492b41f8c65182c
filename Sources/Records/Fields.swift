/// One field of a record: its value, and whether the value is kept encrypted.
public struct Field: Hashable, Sendable, Codable {
  /// What the field holds.
  public var value: FieldValue

  /// Whether the app set it through `encryptedValues`.
  public var isEncrypted: Bool

  /// A field that holds `value`.
  public init(_ value: FieldValue, isEncrypted: Bool = false) {
    self.value = value
    self.isEncrypted = isEncrypted
  }
}

/// The fields of a record by name, kept in the order of their names.
///
/// A sorted array: records have few fields, copying is one retain, and the order in which
/// fields are seen is the same in every process. Complexity: lookup O(log n), insertion O(n).
public struct Fields: Hashable, Sendable, Codable {
  /// A name and its field.
  public struct Element: Hashable, Sendable, Codable {
    /// The field's name.
    public var key: String
    /// The value, and whether it is encrypted.
    public var field: Field

    /// Pairs a name with its field.
    public init(key: String, field: Field) {
      self.key = key
      self.field = field
    }
  }

  private var elements: [Element]

  /// No fields.
  public init() { elements = [] }

  /// The fields in `elements`; of two with the same name the later one counts.
  public init(_ elements: some Sequence<Element>) { self.init(Array(elements)) }

  /// The same; elements that come in order are kept as they are.
  ///
  /// Complexity: O(n log n) in any order, since the sender of a record chooses it.
  public init(_ elements: [Element]) {
    let isInOrder = elements.indices.dropFirst().allSatisfy {
      elements[$0 - 1].key < elements[$0].key
    }
    self.elements = isInOrder ? elements : []
    if !isInOrder { apply(elements.map { (key: $0.key, field: $0.field) }) }
  }

  /// Reads fields in any order, so that nothing from outside can break the order kept here.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(try container.decode([Element].self, forKey: .elements))
  }

  private enum CodingKeys: String, CodingKey { case elements }

  /// How many fields there are.
  public var count: Int { elements.count }

  /// Whether there are none.
  public var isEmpty: Bool { elements.isEmpty }

  /// The names, ascending.
  public var keys: [String] { elements.map(\.key) }

  /// The field called `key`; assigning `nil` removes it.
  public subscript(key: String) -> Field? {
    get {
      let index = insertionIndex(of: key)
      guard index < elements.count, elements[index].key == key else { return nil }
      return elements[index].field
    }
    set {
      let index = insertionIndex(of: key)
      let exists = index < elements.count && elements[index].key == key
      switch (newValue, exists) {
      case (let field?, true): elements[index].field = field
      case (let field?, false): elements.insert(Element(key: key, field: field), at: index)
      case (nil, true): elements.remove(at: index)
      case (nil, false): break
      }
    }
  }

  /// Assigns the fields of `changes` one after the other; a change without a field removes one.
  ///
  /// Complexity: O(n + m log m) for m changes, in whatever order they come.
  public mutating func apply(_ changes: [(key: String, field: Field?)]) {
    // A few are put in faster than sorted.
    guard changes.count > 32 else {
      for change in changes { self[change.key] = change.field }
      return
    }
    let places = changes.indices.sorted { first, second in
      let (name, other) = (changes[first].key, changes[second].key)
      return name == other ? first < second : name < other
    }
    var merged: [Element] = []
    merged.reserveCapacity(elements.count + changes.count)
    var (old, next) = (0, 0)
    while next < places.count {
      let key = changes[places[next]].key
      while old < elements.count, elements[old].key < key {
        merged.append(elements[old])
        old += 1
      }
      var element: Element?
      if old < elements.count, elements[old].key == key {
        element = elements[old]
        old += 1
      }
      // All changes of this field; its name stays spelled as it is while it is there.
      while next < places.count, case let change = changes[places[next]], change.key == key {
        element = change.field.map { Element(key: element?.key ?? change.key, field: $0) }
        next += 1
      }
      if let element { merged.append(element) }
    }
    merged += elements[old...]
    elements = merged
  }

  /// What all fields count toward a record's size limit, in bytes.
  public var byteCount: Int {
    elements.reduce(0) { $0 + $1.key.utf8.count + $1.field.value.byteCount }
  }

  /// The fields whose names are in `keys`.
  public func selecting(_ keys: some Sequence<String>) -> Fields { selecting(anyOf: Set(keys)) }

  /// The fields whose names are in `keys`, which are made into a set once for many records.
  package func selecting(anyOf keys: Set<String>) -> Fields {
    var selected = Fields()
    selected.elements = elements.filter { keys.contains($0.key) }
    return selected
  }

  private func insertionIndex(of key: String) -> Int {
    var low = 0
    var high = elements.count
    while low < high {
      let middle = low + (high - low) / 2
      if elements[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Fields: RandomAccessCollection {
  /// The position of the first field.
  public var startIndex: Int { 0 }

  /// One past the last field.
  public var endIndex: Int { elements.count }

  /// The field at a position, in the order of names.
  public subscript(position: Int) -> Element { elements[position] }
}

extension Fields: ExpressibleByDictionaryLiteral {
  /// The plain values of a literal, none of them encrypted.
  public init(dictionaryLiteral elements: (String, FieldValue)...) {
    self.init(elements.map { Element(key: $0.0, field: Field($0.1)) })
  }
}
