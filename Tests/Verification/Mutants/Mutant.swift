import Foundation

/// A mechanical change of the product's sources, which some test should detect.
struct Mutant: Hashable, Sendable {
  /// The kinds of changes.
  enum Kind: String, CaseIterable, Sendable {
    case boundary
    case comparison
    case logic
    case arithmetic
    case condition
    case guardRemoved = "guard removed"
    case statementRemoved = "statement removed"
    case statementsSwapped = "statements swapped"
    case constant
    case earlyReturn = "early return"
  }

  var kind: Kind
  /// The file, relative to the package's folder.
  var path: String
  /// Its lines, from 1.
  var lines: ClosedRange<Int>
  /// The changed part of the file's UTF-8 bytes.
  var range: Range<Int>
  /// The text that replaces it, in which `condition` and `operatorName` depend on the number.
  var replacement: String
  /// For a changed operator, the operator that replaces it and the types of its operands.
  var operation: Operation?
  /// The change, as the report shows it.
  var change: String
  /// The changed line, by which a mutant is known as equivalent.
  var source: String

  /// An operator that becomes another one.
  struct Operation: Hashable, Sendable {
    var from: String
    var to: String
    var precedence: String
    var operand: String
    var result: String
  }

  /// What becomes the condition that activates the mutant.
  static let condition = "MUTANT"
  /// What becomes the operator of the mutant.
  static let operatorName = "OPERATOR"

  /// The module.
  var module: String { String(path.split(separator: "/")[1]) }

  /// The name of the mutant in reports and in the file of equivalent mutants.
  var name: String { "\(path) | \(kind.rawValue) | \(change) | \(source)" }

  /// The text that replaces the part, with the number in it.
  func text(_ number: Int) -> String {
    replacement.replacing(Mutant.condition, with: "planted(\(number))")
      .replacing(Mutant.operatorName, with: Mutant.operatorText(number))
  }

  /// The declaration of the operator that it uses; empty without one.
  func declaration(_ number: Int) -> String {
    guard let operation else { return "" }
    let name = Mutant.operatorText(number)
    let isLazy = operation.precedence.hasPrefix("Logical")
    let second = isLazy ? "@autoclosure () throws -> Bool" : "T"
    let call = isLazy ? "second()" : "second"
    let parameter = isLazy ? "" : "<T: \(operation.operand)>"
    return """
      infix operator \(name): \(operation.precedence)
      func \(name) \(parameter)(
        first: \(isLazy ? "Bool" : "T"), second: \(second)
      ) \(isLazy ? "rethrows " : "")-> \(operation.result) {
        \(isLazy ? "try " : "")planted(\(number)) ? first \(operation.to) \(call) : first \(operation.from) \(call)
      }

      """
  }

  /// An operator whose characters are the digits of the number; no other operator has them.
  private static func operatorText(_ number: Int) -> String {
    let digits: [Character] = ["%", "~", "^", "|"]
    var text = ""
    var rest = number
    repeat {
      text.append(digits[rest % 4])
      rest /= 4
    } while rest > 0
    return "~%~" + text + "~"
  }
}
