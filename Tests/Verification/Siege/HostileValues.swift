import SimulationSupport
import WebServices

/// Makes JSON values that a reader may fail on.
struct HostileValues {
  let texts: HostileTexts
  /// Texts from responses.
  var learned: [String] = []

  private static let numbers: [JSON] = [
    .integer(0), .integer(-1), .integer(1), .integer(200), .integer(201), .integer(Int64.max),
    .integer(Int64.min), .integer(1 << 53), .number(1e308), .number(-1e308),
    .number(.leastNonzeroMagnitude),
    .number(0.5), .number(-0.0), .number(9.3e18), .number(1e19), .number(253_402_300_800_000),
  ]

  /// Any value; not deeper than `depth`.
  func value(_ random: inout SeededRandom, depth: Int = 3) -> JSON {
    switch random.below(depth > 0 ? 9 : 6) {
    case 0: return .null
    case 1: return .bool(random.happens(50))
    case 2: return random.pick(Self.numbers)
    case 3, 4: return .string(text(&random))
    case 5: return .string(Notation.base64(random.bytes(random.below(60))))
    case 6:
      return .array((0..<random.below(4)).map { _ in value(&random, depth: depth - 1) })
    case 7:
      var members = JSON.Members()
      for _ in 0..<random.below(4) {
        let name = texts.pick(texts.names, &random)
        guard members[name] == nil else { continue }
        members.add(name, value(&random, depth: depth - 1))
      }
      return .object(members)
    default:
      // Up to what is allowed, and beyond.
      return (0..<random.pick([3, 30, 60, 63, 64, 65, 100])).reduce(.null) { inner, _ in
        .array([inner])
      }
    }
  }

  /// A text, at times from a response.
  func text(_ random: inout SeededRandom) -> String {
    guard !learned.isEmpty, random.happens(30) else { return texts.pick(texts.texts, &random) }
    let text = random.pick(learned)
    return random.happens(50) ? text : random.damaged(text)
  }

  /// `json` with one of its parts replaced, removed or added.
  func mutated(_ json: JSON, _ random: inout SeededRandom) -> JSON {
    switch json {
    case .array(var values):
      guard !values.isEmpty, !random.happens(15) else {
        return value(&random)
      }
      let index = random.below(values.count)
      switch random.below(6) {
      case 0: values.remove(at: index)
      case 1: values += [JSON](repeating: values[index], count: random.pick([1, 2, 10, 201]))
      default: values[index] = mutated(values[index], &random)
      }
      return .array(values)
    case .object(let members):
      guard !members.elements.isEmpty, !random.happens(5) else {
        return value(&random)
      }
      var elements = members.elements
      let index = random.below(elements.count)
      switch random.below(8) {
      case 0: elements.remove(at: index)
      case 1:
        var more = members
        let name = texts.pick(texts.names, &random)
        if members[name] == nil { more.add(name, value(&random)) }
        return .object(more)
      case 2:
        let name = texts.pick(texts.names, &random)
        if members[name] == nil { elements[index].name = name }
      default: elements[index].value = mutated(elements[index].value, &random)
      }
      return .object(JSON.Members(elements))
    case .null, .bool, .integer, .number, .string:
      return value(&random)
    }
  }
}

extension JSON {
  /// All longer texts in it.
  func longTexts() -> [String] {
    switch self {
    case .string(let text): text.utf8.count > 12 ? [text] : []
    case .array(let values): values.flatMap { $0.longTexts() }
    case .object(let members): members.elements.flatMap { $0.value.longTexts() }
    case .null, .bool, .integer, .number: []
    }
  }
}
