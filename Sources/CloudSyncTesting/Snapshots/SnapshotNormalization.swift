/// Replacements of generated names, so that two runs give the same text.
public struct SnapshotNormalization: OptionSet, Sendable {
  /// The bits.
  public let rawValue: Int

  /// Wraps the bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Numbers UUIDs, as `<uuid 1>`, in order of first appearance.
  public static let uuids = SnapshotNormalization(rawValue: 1)

  /// Numbers user record names, as `<user 1>`, in order of first appearance.
  public static let users = SnapshotNormalization(rawValue: 2)

  func applied(to text: String) -> String {
    var text = text
    if contains(.uuids) {
      text = SnapshotNormalization.numbered(
        text, "uuid",
        /[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}/)
    }
    if contains(.users) {
      text = SnapshotNormalization.numbered(text, "user", /_[0-9a-f]{32}/)
    }
    return text
  }

  private static func numbered(_ text: String, _ word: String, _ pattern: Regex<Substring>)
    -> String
  {
    var numbers: [String: Int] = [:]
    return text.replacing(pattern) { match in
      let name = match.output.lowercased()
      let number = numbers[name] ?? numbers.count + 1
      numbers[name] = number
      return "<\(word) \(number)>"
    }
  }
}
