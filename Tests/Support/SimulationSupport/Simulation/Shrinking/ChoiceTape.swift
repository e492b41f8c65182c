/// Every choice of a world, step by step.
///
/// `nil` stands for the benign choice: nothing fails, the first of several. A step that is taken
/// out takes its choices along and leaves those of the others alone.
package struct ChoiceTape: Hashable, Sendable {
  /// The choices before the first step: what the world is like.
  package var opening: [UInt64?] = []
  /// The choices of each step in which things go wrong.
  package var steps: [[UInt64?]] = []
  /// The choices of each step after that.
  package var healing: [[UInt64?]] = []

  /// The number of choices that are not benign.
  package var choiceCount: Int {
    (steps + healing).reduce(opening.count { $0 != nil }) { sum, step in
      sum + step.count { $0 != nil }
    }
  }

  /// Creates an empty tape.
  package init() {}

  mutating func beginStep(isHealing: Bool) {
    if isHealing { healing.append([]) } else { steps.append([]) }
  }

  mutating func note(_ choice: UInt64) {
    if !healing.isEmpty {
      healing[healing.count - 1].append(choice)
    } else if !steps.isEmpty {
      steps[steps.count - 1].append(choice)
    } else {
      opening.append(choice)
    }
  }

  /// Reads the choices of a tape, and the benign choice after its end.
  struct Player: Sendable {
    private let tape: ChoiceTape
    /// The choices of the current step.
    private var current: [UInt64?]
    private var position = 0
    private var stepCount = 0
    private var healingCount = 0

    init(_ tape: ChoiceTape) {
      self.tape = tape
      current = tape.opening
    }

    mutating func beginStep(isHealing: Bool) {
      position = 0
      if isHealing {
        current = healingCount < tape.healing.count ? tape.healing[healingCount] : []
        healingCount += 1
      } else {
        current = stepCount < tape.steps.count ? tape.steps[stepCount] : []
        stepCount += 1
      }
    }

    mutating func next() -> UInt64? {
      guard position < current.count else { return nil }
      defer { position += 1 }
      return current[position]
    }
  }
}

extension ChoiceTape: CustomStringConvertible {
  /// A line for each step; a point is a benign choice.
  package var description: String {
    func line(_ choices: [UInt64?]) -> String {
      choices.map { $0.map { String($0, radix: 36) } ?? "." }.joined(separator: " ")
    }
    return
      (["opening: \(line(opening))"] + steps.map { "step: \(line($0))" }
      + healing.filter { $0.contains { $0 != nil } }.map { "healing: \(line($0))" })
      .joined(separator: "\n")
  }
}
