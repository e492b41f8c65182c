/// Plays many tapes, several at a time.
struct Comparison {
  /// The result of all tapes.
  struct Outcome: Sendable {
    var tapes = 0
    var steps = 0
    /// The differences, by seed.
    var differences: [Difference] = []
    /// The number of times each situation occurred.
    var situations: [String: Int] = [:]

    /// The situations that never came up.
    var missed: [String] { Situation.required.filter { situations[$0] == nil } }
  }

  var seeds: Range<UInt64>
  var steps = 40
  var jobs = 1
  var plant: Plant?

  /// Servers are made anew after so many tapes, so that none grows for ever.
  private static let tapesOfStage: UInt64 = 50

  /// Plays all tapes.
  func run() async throws -> Outcome {
    var chunks = stride(from: seeds.lowerBound, to: seeds.upperBound, by: Int(Self.tapesOfStage))
      .makeIterator()
    return try await withThrowingTaskGroup(of: Outcome.self) { group in
      func addNext() {
        guard let first = chunks.next() else { return }
        let chunk = first..<min(first + Self.tapesOfStage, seeds.upperBound)
        group.addTask { try await play(chunk) }
      }
      for _ in 0..<jobs { addNext() }
      var outcome = Outcome()
      while let part = try await group.next() {
        outcome.tapes += part.tapes
        outcome.steps += part.steps
        outcome.differences += part.differences
        outcome.situations.merge(part.situations, uniquingKeysWith: +)
        addNext()
      }
      outcome.differences.sort { $0.seed < $1.seed }
      return outcome
    }
  }

  private func play(_ seeds: Range<UInt64>) async throws -> Outcome {
    let stage = try Stage(plant: plant)
    var outcome = Outcome()
    for seed in seeds {
      let (count, situations, difference) = try await stage.play(seed: seed, steps: steps)
      outcome.situations.merge(situations, uniquingKeysWith: +)
      outcome.tapes += 1
      outcome.steps += count
      if let difference { outcome.differences.append(difference) }
    }
    await stage.close()
    return outcome
  }
}
