/// The form a person types: `lastWriteWins`, `clearlyLaterWins(2)`, `title=manual`, joined by
/// commas; what comes first is asked first.
extension ConflictStrategy: LosslessStringConvertible {
  /// Reads the form that `description` writes, such as `title=manual,content=manual,lastWriteWins`.
  ///
  /// `nil` when a part of it is no strategy.
  public init?(_ text: String) {
    var steps: [ConflictStrategy] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = sides.last, let strategy = Self.named(Self.trimmed(name)) else { return nil }
      guard sides.count == 2, let field = sides.first.map(Self.trimmed) else {
        steps.append(strategy)
        continue
      }
      guard !field.isEmpty else { return nil }
      if case .perField(var strategies)? = steps.last {
        guard strategies.updateValue(strategy, forKey: field) == nil else { return nil }
        steps[steps.count - 1] = .perField(strategies)
      } else {
        steps.append(.perField([field: strategy]))
      }
    }
    guard var whole = steps.popLast() else { return nil }
    while let step = steps.popLast() { whole = step.orElse(whole) }
    self = whole
  }

  /// The strategy as text; fields in the order of their names.
  public var description: String {
    switch self {
    case .lastWriteWins: "lastWriteWins"
    case .remoteWins: "remoteWins"
    case .localWins: "localWins"
    case .manual: "manual"
    case .clearlyLaterWins(let seconds): "clearlyLaterWins(\(seconds))"
    case .perField(let strategies):
      strategies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
    case .first(let first, let otherwise): "\(first),\(otherwise)"
    }
  }

  private static func named(_ name: String) -> ConflictStrategy? {
    switch name {
    case "lastWriteWins": return .lastWriteWins
    case "remoteWins": return .remoteWins
    case "localWins": return .localWins
    case "manual": return .manual
    default:
      guard name.hasPrefix("clearlyLaterWins("), name.hasSuffix(")"),
        let seconds = Double(name.dropFirst("clearlyLaterWins(".count).dropLast()),
        seconds.isFinite, seconds >= 0
      else { return nil }
      return .clearlyLaterWins(seconds: seconds)
    }
  }

  private static func trimmed(_ text: Substring) -> String {
    String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
