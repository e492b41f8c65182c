import Foundation
import Records

/// The functions of predicates, by their canonical names.
enum PredicateFunction {
  /// The metres between two places.
  static let distance = "distanceToLocation:fromLocation:"
  /// The words of a text.
  static let tokenize = "tokenize:using:"

  /// The number of arguments of each function.
  private static let arity: [String: Int] = [
    "now": 0, distance: 2, tokenize: 2, "count:": 1, "sum:": 1, "min:": 1, "max:": 1,
    "average:": 1, "abs:": 1, "sqrt:": 1, "ln:": 1, "log:": 1, "exp:": 1, "ceiling:": 1,
    "floor:": 1, "trunc:": 1, "uppercase:": 1, "lowercase:": 1, "canonical:": 1, "length:": 1,
    "add:to:": 2, "from:subtract:": 2, "multiply:by:": 2, "divide:by:": 2, "modulus:by:": 2,
    "raise:toPower:": 2,
  ]

  /// The canonical name of the function `name` with `count` arguments; `nil` when there is none.
  ///
  /// The colons may be left out, as in `lowercase(name)` and `tokenize(text, 'Cdl')`.
  static func canonical(_ name: String, count: Int) -> String? {
    let names = [name, name + ":"] + (name == "tokenize" ? [tokenize] : [])
    if let canonical = names.first(where: { arity[$0] == count }) { return canonical }
    // Statistics also take their list as separate arguments.
    return names.first { ["sum:", "min:", "max:", "average:", "count:"].contains($0) && count > 1 }
  }

  /// Whether there is a function `name`, with any number of arguments.
  static func isKnown(_ name: String) -> Bool {
    arity[name] != nil || arity[name + ":"] != nil || name == "tokenize"
  }

  /// The value of a function; `null` if its arguments are of the wrong kinds.
  static func value(_ name: String, _ arguments: [PredicateValue]) -> PredicateValue {
    let first = arguments.first ?? .null
    let second = arguments.count > 1 ? arguments[1] : .null
    switch name {
    case "now": return PredicateValue(Date())
    case distance: return metres(first, second)
    case tokenize: return PredicateValue(PredicateText.tokens(first.text ?? ""))
    case "uppercase:": return PredicateValue(first.text?.uppercased())
    case "lowercase:": return PredicateValue(first.text?.lowercased())
    case "canonical:":
      return PredicateValue(
        first.text.map {
          PredicateComparison.Options([.caseInsensitive, .diacriticInsensitive]).folded($0)
        })
    case "length:": return PredicateValue(first.text.map { $0.utf16.count })
    case "count:", "sum:", "min:", "max:", "average:", "avg:":
      return statistic(name, arguments.count > 1 ? .list(arguments) : first)
    case "add:to:": return value(.add, first, second)
    case "from:subtract:": return value(.subtract, first, second)
    case "multiply:by:": return value(.multiply, first, second)
    case "divide:by:": return value(.divide, first, second)
    case "raise:toPower:": return value(.power, first, second)
    case "modulus:by:":
      guard let first = first.number, let second = second.number, second != 0 else { return .null }
      return number(first.truncatingRemainder(dividingBy: second))
    default: return first.number.flatMap { calculated(name, $0) } ?? .null
    }
  }

  private static func metres(_ first: PredicateValue, _ second: PredicateValue) -> PredicateValue {
    guard case .value(.location(let first)) = first, case .value(.location(let second)) = second
    else { return .null }
    return .value(.double(first.distance(to: second)))
  }

  private static func calculated(_ name: String, _ value: Double) -> PredicateValue? {
    switch name {
    case "abs:": number(abs(value))
    case "sqrt:": number(value.squareRoot())
    case "ln:": number(Foundation.log(value))
    case "log:": number(log10(value))
    case "exp:": number(Foundation.exp(value))
    case "ceiling:": number(value.rounded(.up))
    case "floor:": number(value.rounded(.down))
    case "trunc:": number(value.rounded(.towardZero))
    default: nil
    }
  }

  private static func statistic(_ name: String, _ list: PredicateValue) -> PredicateValue {
    let members = list.asList
    func extreme(_ wanted: ComparisonResult) -> PredicateValue {
      members.reduce(members.first ?? .null) { best, member in
        member.order(best, []) == wanted ? member : best
      }
    }
    switch name {
    case "count:": return .value(.int64(Int64(members.count)))
    case "min:": return extreme(.orderedAscending)
    case "max:": return extreme(.orderedDescending)
    default:
      let sum = members.compactMap(\.number).reduce(0, +)
      if name == "sum:" { return number(sum) }
      return members.isEmpty ? .null : number(sum / Double(members.count))
    }
  }

  /// The result of a calculation; integers stay integers if possible.
  static func value(
    _ operation: PredicateOperand.Arithmetic, _ left: PredicateValue, _ right: PredicateValue
  ) -> PredicateValue {
    if case .value(.date(let time)) = left, let seconds = right.number,
      operation == .add || operation == .subtract
    {
      let change = operation == .add ? seconds : -seconds
      return .value(
        .date(Timestamp(secondsSinceReferenceDate: time.secondsSinceReferenceDate + change)))
    }
    if case .value(.int64(let left)) = left, case .value(.int64(let right)) = right,
      let whole = whole(operation, left, right)
    {
      return .value(.int64(whole))
    }
    guard let left = left.number, let right = right.number else { return .null }
    switch operation {
    case .add: return number(left + right)
    case .subtract: return number(left - right)
    case .multiply: return number(left * right)
    case .divide: return number(left / right)
    case .power: return number(pow(left, right))
    }
  }

  private static func whole(
    _ operation: PredicateOperand.Arithmetic, _ left: Int64, _ right: Int64
  ) -> Int64? {
    let (value, overflow) =
      switch operation {
      case .add: left.addingReportingOverflow(right)
      case .subtract: left.subtractingReportingOverflow(right)
      case .multiply: left.multipliedReportingOverflow(by: right)
      case .divide: left.dividedReportingOverflow(by: right)
      case .power: (Int64(0), true)
      }
    return overflow ? nil : value
  }

  private static func number(_ value: Double) -> PredicateValue { .value(.double(value)) }
}
