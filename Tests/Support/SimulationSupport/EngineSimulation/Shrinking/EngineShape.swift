/// How an engine world differs from the one that its seed describes.
struct EngineShape: Sendable {
  /// Something that can be taken away from an engine world.
  enum Reduction: Hashable, CaseIterable, Sendable {
    case world(WorldReduction)
    case diskFaults, serverFile, powerCuts, habits, pauses, scopes, sharing, names

    static let allCases: [Reduction] =
      WorldReduction.allCases.map { .world($0) }
      + [.diskFaults, .serverFile, .powerCuts, .habits, .pauses, .scopes, .sharing, .names]

    /// Whether taking it away again takes away more.
    var repeats: Bool {
      guard case .world(let reduction) = self else { return false }
      return reduction.repeats
    }

    /// Its name, for people.
    var name: String {
      switch self {
      case .world(let reduction): "\(reduction)"
      case .diskFaults: "diskFaults"
      case .serverFile: "serverFile"
      case .powerCuts: "powerCuts"
      case .habits: "habits"
      case .pauses: "pauses"
      case .scopes: "scopes"
      case .sharing: "sharing"
      case .names: "names"
      }
    }
  }

  /// How many steps the phase with faults takes.
  var steps: Int
  /// What is taken away.
  var reductions: [Reduction] = []
  /// Which of many worlds of this shape it is; 0 for the one whose choices are the seed's.
  var variation: UInt64 = 0

  /// The whole world of a seed.
  static let whole = EngineShape(steps: EngineSimulation.stepsWithFaults)

  func lacks(_ reduction: Reduction) -> Bool { reductions.contains(reduction) }

  /// Takes away what `options` say.
  func apply(to options: inout WorldOptions) {
    for case .world(let reduction) in reductions { reduction.apply(to: &options) }
  }
}
