/// Something that reads bytes from outside, and what must hold whatever they are.
///
/// No input may trap, hang or use memory without bound, and what is accepted must survive being
/// written and read again. Fuzzers call it millions of times, and the tests once for each file of
/// its corpus.
struct FuzzTarget: Sendable {
  /// The name of the folder of the corpus.
  let name: String
  /// Reads `input`; throws `Violation` where a rule is broken.
  let run: @Sendable (_ input: FuzzInput, _ planted: Bool) throws -> Void

  /// All targets.
  static let all: [FuzzTarget] = [
    .http, .json, .exchange, .reply, .stateLog, .state, .inspection, .tokens, .predicate, .keyed,
    .rows, .archive, .records, .signatures,
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

/// The bug that is put in on purpose, to show that a target reaches what it should and that the
/// address sanitizer sees it: it is there only where the fuzzer is asked for it.
///
/// It counts signs, with room for each up to `z`, and keeps the first 24 of them. All others share
/// the place behind, which nobody made room for. No input of a corpus has any where this stands,
/// behind all that reads the input.
@inline(never)
func plant(_ planted: Bool, _ bytes: some Collection<UInt8>) throws {
  guard planted else { return }
  let size = Int(UInt8(ascii: "z")) + 1
  #if CLOUDSYNC_FUZZ
    let counts = UnsafeMutablePointer<Int>.allocate(capacity: size)
    defer { counts.deallocate() }
    counts.initialize(repeating: 0, count: size)
    let first = UnsafeMutablePointer<UInt8>.allocate(capacity: 24)
    defer { first.deallocate() }
    for (index, byte) in bytes.enumerated() {
      counts[min(Int(byte), size)] += 1
      first[min(index, 24)] = byte
    }
    let count = UnsafeBufferPointer(start: counts, count: size).reduce(0, +)
    try check(
      count == bytes.count && (bytes.isEmpty || first[0] == bytes.first),
      "planted, and not seen by the address sanitizer")
  #else
    try check(bytes.count <= 24 && bytes.allSatisfy { $0 < size }, "planted")
  #endif
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
