/// Finds the encoded states in bytes, however they are wrapped.
struct StateSearch {
  /// The bytes of one state, and the way to them.
  struct Finding {
    var place: String
    var formats: [String]
    var bytes: [UInt8]
    /// What is wrong with what the bytes stand in.
    var fault: String?
  }

  /// Apps wrap a state once or twice; more is no state.
  private static let deepest = 4

  /// In the order they stand in the file.
  private(set) var findings: [Finding] = []
  /// What is wrong with the file around them: "damaged JSON: …".
  private(set) var fault: String?

  init(_ bytes: [UInt8]) {
    fault = enter(bytes, place: [], formats: [], fault: nil)
  }

  /// Whether the bytes begin like a state or like something that may hold one.
  static func isCandidate(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: StateReading.stateMagic) || EnclosingFormat(of: bytes) != nil
  }

  /// Looks at bytes; answers what is wrong with them as far as they are no state.
  private mutating func enter(
    _ bytes: [UInt8], place: [String], formats: [String], fault: String?
  ) -> String? {
    if bytes.starts(with: StateReading.stateMagic) {
      findings.append(
        Finding(
          place: place.joined(separator: "."), formats: formats, bytes: bytes, fault: fault))
      return nil
    }
    guard formats.count < StateSearch.deepest else { return nil }
    if let format = EnclosingFormat(of: bytes) {
      let (contents, reason) = format.contents(of: bytes)
      let problem = reason.map { "damaged, as \(format.name): \($0)" }
      for content in contents {
        let broken = content.isWhole ? nil : "damaged inside of \(format.name)"
        _ = enter(
          content.bytes, place: place + content.place, formats: formats + [format.name],
          fault: fault ?? problem ?? broken)
      }
      return problem
    }
    let text = bytes.withoutByteOrderMark
    if Base64Text.isCandidate(text) {
      let (content, isWhole) = Base64Text.decode(text)
      let problem = isWhole ? nil : "damaged, as base64"
      _ = enter(
        content, place: place, formats: formats + ["base64"], fault: fault ?? problem)
      return problem
    }
    return nil
  }
}
