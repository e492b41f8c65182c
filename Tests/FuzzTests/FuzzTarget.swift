/// Something that reads bytes from outside, and what must hold whatever they are.
///
/// No input may trap, hang or use memory without bound, and what is accepted must survive being
/// written and read again. Fuzzers call it millions of times, and the tests once for each file of
/// its corpus.
struct FuzzTarget: Sendable {
  /// What the folder of the corpus is called.
  let name: String
  /// Reads `input`; throws `Violation` where a rule is broken.
  let run: @Sendable (_ input: FuzzInput, _ planted: Bool) throws -> Void

  /// All targets.
  static let all: [FuzzTarget] = [
    .http, .json, .exchange, .reply, .stateLog, .state, .inspection, .tokens, .predicate, .keyed,
    .rows, .archive, .records,
  ]
}

/// A rule that an input breaks.
struct Violation: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Breaks off unless `holds`.
func check(_ holds: Bool, _ rule: @autoclosure () -> String) throws {
  if !holds { throw Violation(rule()) }
}

/// The bug that is put in on purpose, to show that a target reaches what it should: it is there
/// only where the fuzzer is built for it and asked for it.
///
/// It waits behind all that reads the input, for a value with the same byte twice in a row.
@inline(never)
func plant(_ planted: Bool, _ bytes: some Collection<UInt8>) throws {
  guard planted else { return }
  if zip(bytes, bytes.dropFirst()).contains(where: { $0 == $1 && $0 != 0 }) {
    throw Violation("planted")
  }
}

/// The bytes a target gets: the first few choose, the rest is what is read.
struct FuzzInput: Sendable {
  private(set) var bytes: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

  /// The next byte; 0 behind the end.
  mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

  /// One of `count` ways.
  mutating func choice(_ count: Int) -> Int { Int(byte()) % count }

  /// One of `values`.
  mutating func choice<Value>(of values: [Value]) -> Value { values[choice(values.count)] }

  /// A run of bytes with its length, a byte, in front.
  mutating func run() -> [UInt8] {
    let count = min(Int(byte()), bytes.count)
    defer { bytes = bytes.dropFirst(count) }
    return Array(bytes.prefix(count))
  }

  /// All that is left.
  var rest: [UInt8] { Array(bytes) }

  /// All that is left, as text, with a sign in place of what is none.
  var text: String { String(decoding: bytes, as: UTF8.self) }
}
