import Foundation
import Records

/// A comparison as a format string with placeholders and their arguments.
///
/// Foundation on Apple's platforms ends the process when it cannot parse a format. A template has
/// only the part of the language that Apple documents, and each value and name is an argument.
package struct PredicateTemplate {
  private struct Unwritable: Error {}

  /// The format.
  package private(set) var format = ""

  /// The values of the placeholders, in order.
  package private(set) var arguments: [Any] = []

  private let comparesIDs: Bool
  private var depth = 0

  /// Creates the template of `comparison`; `nil` when a part has no documented text.
  package init?(_ comparison: PredicateComparison) {
    comparesIDs = [comparison.left, comparison.right].contains(where: PredicateTemplate.isID)
    if comparison.operation == .between, !comparison.options.isEmpty { return nil }
    do {
      let left = try text(comparison.left)
      let right = try text(comparison.right)
      let modifier =
        switch comparison.modifier {
        case .direct: ""
        case .any: "ANY "
        case .all: "ALL "
        }
      let letters = PredicateComparison.Options.letters.filter {
        comparison.options.contains($0.0)
      }
      let options = letters.isEmpty ? "" : "[\(String(letters.map(\.1)))]"
      format = "\(modifier)\(left) \(comparison.operation.rawValue)\(options) \(right)"
    } catch {
      return nil
    }
  }

  /// Whether an operand is a property of records that holds an ID, not a reference.
  private static func isID(_ operand: PredicateOperand) -> Bool {
    guard case .key(let name) = operand, let field = SystemField(fieldName: name) else {
      return false
    }
    return switch field {
    case .recordID, .createdBy, .modifiedBy: true
    case .created, .modified, .parent, .share: false
    }
  }

  private mutating func text(_ operand: PredicateOperand) throws(Unwritable) -> String {
    depth += 1
    defer { depth -= 1 }
    guard depth <= PredicateParser.depthLimit / 4 else { throw Unwritable() }
    switch operand {
    case .null: return "nil"
    case .value(let value):
      arguments.append(object(value))
      return "%@"
    case .list(let members): return try list(members)
    case .key(let name):
      guard !name.isEmpty else { throw Unwritable() }
      arguments.append(name)
      return "%K"
    case .itself: return "SELF"
    case .variable(let name):
      guard PredicateTemplate.isIdentifier(name) else { throw Unwritable() }
      return "$" + name
    case .function(let name, let arguments): return try function(name, arguments)
    case .arithmetic(let operation, let left, let right):
      return "\(try side(left)) \(operation.rawValue) \(try side(right))"
    case .member(let list, let member): return try text(member, of: list)
    case .foreign: throw Unwritable()
    }
  }

  /// A list of values is one argument; other lists are written out.
  private mutating func list(_ members: [PredicateOperand]) throws(Unwritable) -> String {
    var objects: [Any] = []
    for member in members {
      guard case .value(let value) = member else { break }
      objects.append(object(value))
    }
    if objects.count == members.count {
      arguments.append(objects)
      return "%@"
    }
    return "{\(try texts(members))}"
  }

  private mutating func texts(_ operands: [PredicateOperand]) throws(Unwritable) -> String {
    var texts: [String] = []
    for operand in operands { texts.append(try text(operand)) }
    return texts.joined(separator: ", ")
  }

  private mutating func side(_ operand: PredicateOperand) throws(Unwritable) -> String {
    let text = try text(operand)
    return if case .arithmetic = operand { "(\(text))" } else { text }
  }

  /// The functions of one argument that Apple documents, with the colon of their selectors.
  private static let functions: Set<String> = [
    "sum:", "count:", "min:", "max:", "average:", "sqrt:", "log:", "ln:", "exp:", "floor:",
    "ceiling:", "abs:", "trunc:", "uppercase:", "lowercase:",
  ]

  private mutating func function(
    _ name: String, _ arguments: [PredicateOperand]
  ) throws(Unwritable) -> String {
    switch (name, arguments.count) {
    case ("now", 0): return "now()"
    case (PredicateFunction.distance, 2): return "\(name)(\(try texts(arguments)))"
    case (PredicateFunction.tokenize, 2): return "tokenize(\(try texts(arguments)))"
    case (_, 1) where PredicateTemplate.functions.contains(name):
      return "\(name.dropLast())(\(try texts(arguments)))"
    default: throw Unwritable()
    }
  }

  private mutating func text(
    _ member: PredicateOperand.Member, of list: PredicateOperand
  ) throws(Unwritable) -> String {
    guard case .key = list else { throw Unwritable() }
    let base = try text(list)
    return switch member {
    case .first: base + "[FIRST]"
    case .last: base + "[LAST]"
    case .size: base + "[SIZE]"
    case .at(let position): "\(base)[\(try text(position))]"
    }
  }

  private func object(_ value: FieldValue) -> Any {
    if comparesIDs, case .reference(let reference) = value, reference.action == .none {
      return CKRecordID(reference.target)
    }
    return value.boxed
  }

  private static func isIdentifier(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, first.isASCII, first.properties.isAlphabetic
    else { return false }
    return name.unicodeScalars.allSatisfy {
      $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "_")
    }
  }
}
