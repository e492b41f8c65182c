/// A JSON value that preserves the text's exact content.
///
/// Integers that fit stay integers, so that an `INT64` above 2^53 is preserved; text is kept byte
/// for byte; the members of an object keep their order. Duplicate member names are rejected, unlike
/// in Foundation's parser.
package enum JSON: Sendable {
  /// Nothing.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// Any other number; finite.
  case number(Double)
  /// Text.
  case string(String)
  /// A list.
  case array([JSON])
  /// Members by name, each name once.
  case object(Members)

  /// The members of an object, in the order of the text.
  package struct Members: Sendable {
    /// A name and its value.
    package struct Element: Sendable {
      /// The name.
      package var name: String
      /// The value.
      package var value: JSON

      /// A name and its value.
      package init(name: String, value: JSON) {
        self.name = name
        self.value = value
      }
    }

    /// The members.
    package private(set) var elements: [Element]

    /// The members `elements`, whose names differ.
    package init(_ elements: [Element] = []) { self.elements = elements }

    /// The value called `name`; `nil` when there is none.
    ///
    /// Complexity: O(n).
    package subscript(name: String) -> JSON? {
      elements.first { $0.name == name }?.value
    }

    /// Adds a member with a new name; does nothing for `nil`.
    package mutating func add(_ name: String, _ value: JSON?) {
      if let value { elements.append(Element(name: name, value: value)) }
    }
  }
}

extension JSON {
  /// The value called `name` of an object; `nil` for any other value, and for a member that is
  /// `null`, which CloudKit Web Services treats like one that is absent.
  package subscript(name: String) -> JSON? {
    guard case .object(let members) = self, let value = members[name], !value.isNull else {
      return nil
    }
    return value
  }

  /// Whether the value is `null`.
  package var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The string; `nil` for any other value.
  package var string: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The Boolean; `nil` for any other value.
  package var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The list; `nil` for any other value.
  package var array: [JSON]? {
    if case .array(let value) = self { value } else { nil }
  }

  /// The members of an object; `nil` for any other value.
  package var members: Members? {
    if case .object(let value) = self { value } else { nil }
  }

  /// The integer; also accepts a string, or a zero fraction within the range in which a `Double`
  /// represents every integer.
  package var integer: Int64? {
    switch self {
    case .integer(let value): value
    case .number(let value):
      value.magnitude < 9_007_199_254_740_992 ? Int64(exactly: value) : nil
    case .string(let value): Int64(value)
    case .null, .bool, .array, .object: nil
    }
  }

  /// The number, always finite; also accepts a string.
  package var double: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    case .string(let value):
      // Reject `0X10`, `nan` and anything after a NUL.
      value.utf8.allSatisfy(JSON.isOfNumber)
        ? Double(value).flatMap { $0.isFinite ? $0 : nil } : nil
    case .null, .bool, .array, .object: nil
    }
  }

  private static func isOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"),
      UInt8(ascii: "E"):
      true
    default: false
    }
  }

  /// An object with the given members, except those without a value.
  package static func members(_ pairs: KeyValuePairs<String, JSON?>) -> JSON {
    var members = Members()
    for (name, value) in pairs { members.add(name, value) }
    return .object(members)
  }

  /// A whole number.
  package static func integer(_ value: Int) -> JSON { .integer(Int64(value)) }
}

extension JSON: Equatable {
  /// Compares exactly: strings by their bytes, numbers by their bits.
  package static func == (first: JSON, second: JSON) -> Bool {
    switch (first, second) {
    case (.null, .null): true
    case (.bool(let first), .bool(let second)): first == second
    case (.integer(let first), .integer(let second)): first == second
    case (.number(let first), .number(let second)): first.bitPattern == second.bitPattern
    case (.string(let first), .string(let second)): first.utf8.elementsEqual(second.utf8)
    case (.array(let first), .array(let second)): first == second
    case (.object(let first), .object(let second)):
      first.elements.elementsEqual(second.elements) {
        $0.name.utf8.elementsEqual($1.name.utf8) && $0.value == $1.value
      }
    case (.null, _), (.bool, _), (.integer, _), (.number, _), (.string, _), (.array, _),
      (.object, _):
      false
    }
  }
}

/// The error of text that is not valid JSON.
package struct JSONParsingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The error message, without any of the content.
  package var reason: String
  /// The offset in bytes from the start.
  package var offset: Int

  /// The reason and the offset.
  package var description: String { "\(reason), at byte \(offset)" }
}
