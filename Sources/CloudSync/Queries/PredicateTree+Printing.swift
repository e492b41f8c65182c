import Records

extension PredicateTree {
  /// The predicate as a format string with its values in place, as Apple's `predicateFormat`.
  package var format: String { PredicatePrinter(showsValues: true).text(self) }

  /// The predicate with the kinds of its values in place of the values, for error messages.
  package var summary: String { PredicatePrinter(showsValues: false).text(self) }
}

/// Writes predicates as format strings.
struct PredicatePrinter {
  /// Whether values are written, or only their kinds.
  let showsValues: Bool

  /// The predicate's text.
  func text(_ tree: PredicateTree) -> String {
    switch tree {
    case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): text(comparison)
    case .and(let parts): joined(parts, "AND", empty: "TRUEPREDICATE")
    case .or(let parts): joined(parts, "OR", empty: "FALSEPREDICATE")
    case .not(let part): "NOT " + inside(part)
    case .invalid: "INVALIDPREDICATE"
    case .block: "BLOCKPREDICATE"
    }
  }

  private func joined(_ parts: [PredicateTree], _ word: String, empty: String) -> String {
    parts.isEmpty ? empty : parts.map(inside).joined(separator: " \(word) ")
  }

  /// A part of a compound; in parentheses when it is a compound of parts itself.
  private func inside(_ tree: PredicateTree) -> String {
    switch tree {
    case .and(let parts) where !parts.isEmpty: "(" + text(tree) + ")"
    case .or(let parts) where !parts.isEmpty: "(" + text(tree) + ")"
    case .constant, .comparison, .and, .or, .not, .invalid, .block: text(tree)
    }
  }

  private func text(_ comparison: PredicateComparison) -> String {
    let modifier =
      switch comparison.modifier {
      case .direct: ""
      case .any: "ANY "
      case .all: "ALL "
      }
    var letters = ""
    for (option, letter) in PredicateComparison.Options.letters
    where comparison.options.contains(option) { letters.append(letter) }
    let options = letters.isEmpty ? "" : "[\(letters)]"
    return "\(modifier)\(text(comparison.left)) \(comparison.operation.rawValue)\(options) "
      + text(comparison.right)
  }

  /// The expression's text.
  func text(_ expression: PredicateOperand) -> String {
    switch expression {
    case .null: "nil"
    case .value(let value): showsValues ? literal(value) : "<\(value.kind)>"
    case .list(let members):
      showsValues || members.count <= 3
        ? "{" + members.map(text).joined(separator: ", ") + "}"
        : "{\(text(members[0])), … (\(members.count))}"
    case .foreign(let type, let text, _): showsValues ? "<\(type): \(text)>" : "<\(type)>"
    case .key(let name): PredicatePrinter.escaped(name)
    case .itself: "SELF"
    case .variable(let name): "$" + name
    case .function(let name, let arguments):
      name + "(" + arguments.map(text).joined(separator: ", ") + ")"
    case .arithmetic(let operation, let left, let right):
      first(left, of: operation) + " \(operation.rawValue) " + operand(right)
    case .member(let list, let member): base(list) + "[" + text(member) + "]"
    }
  }

  /// The operand of a subscript; a sign binds less than the subscript.
  private func base(_ expression: PredicateOperand) -> String {
    let text = operand(expression)
    return text.hasPrefix("-") ? "(" + text + ")" : text
  }

  private func operand(_ expression: PredicateOperand) -> String {
    switch expression {
    case .arithmetic: "(" + text(expression) + ")"
    case .null, .value, .list, .foreign, .key, .itself, .variable, .function, .member:
      text(expression)
    }
  }

  /// The left side of a calculation: a row of sums, products or powers is read from the left, so it
  /// needs no parentheses, however long it is.
  private func first(
    _ expression: PredicateOperand, of operation: PredicateOperand.Arithmetic
  ) -> String {
    guard case .arithmetic(let earlier, _, _) = expression,
      earlier.precedence == operation.precedence
    else { return operand(expression) }
    return text(expression)
  }

  private func text(_ member: PredicateOperand.Member) -> String {
    switch member {
    case .first: "FIRST"
    case .last: "LAST"
    case .size: "SIZE"
    case .at(let position): index(text(position))
    }
  }

  /// A computed position; in parentheses when it starts like one of the words for positions.
  private func index(_ text: String) -> String {
    let start = text.uppercased()
    let isLikeWord = ["FIRST", "LAST", "SIZE"].contains { start.hasPrefix($0) }
    return isLikeWord ? "(" + text + ")" : text
  }

  private func literal(_ value: FieldValue) -> String {
    switch value {
    case .string(let text): PredicatePrinter.quoted(text)
    case .int64(let number): String(number)
    case .double(let number): String(number)
    case .date(let time): "CAST(\(time.secondsSinceReferenceDate), \"NSDate\")"
    case .bytes(let bytes): "<data: \(bytes.count) bytes>"
    case .reference(let reference): "<reference: \(reference.target.name)>"
    case .asset: "<asset>"
    case .location(let place): "<\(place.latitude),\(place.longitude)>"
    case .list(let members): "{" + members.map(literal).joined(separator: ", ") + "}"
    }
  }

  /// A text in double quotes.
  static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  /// A path of names, with `#` before those that are words of the language.
  static func escaped(_ path: String) -> String {
    path.split(separator: ".", omittingEmptySubsequences: false).map { name in
      PredicateKeyword(name) == nil ? String(name) : "#" + name
    }.joined(separator: ".")
  }
}

extension PredicateComparison.Options {
  /// The options by their letters, in the order they are written.
  static let letters: [(Self, Character)] = [
    (.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n"),
    (.localeSensitive, "l"),
  ]
}

extension PredicateOperand.Arithmetic {
  /// The precedence: highest for powers, lowest for sums.
  fileprivate var precedence: Int {
    switch self {
    case .add, .subtract: 0
    case .multiply, .divide: 1
    case .power: 2
    }
  }
}
