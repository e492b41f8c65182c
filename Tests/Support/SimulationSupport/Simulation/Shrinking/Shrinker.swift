import Synchronization

/// A failing world, made as small as possible.
package struct ShrunkWorld: Sendable {
  /// The violation at its end.
  package var violation: Violation
  /// The number of steps with faults that are left, and of the whole world.
  package var steps: (left: Int, before: Int)
  /// The number of choices that are not benign, left and before; `nil` without a tape.
  package var choices: (left: Int, before: Int)?
  /// The names of the removed parts, in the order in which they were removed.
  package var reductions: [String]
  /// The options of the world.
  package var options: String
  /// The choices and the removed parts, in lines.
  package var shape: [String]
  /// Everything that happens, in lines.
  package var trace: [String]
  /// The number of worlds that were run to find it.
  package var worlds: Int

  /// A sentence about the size.
  package var size: String {
    "\(steps.left) of \(steps.before) steps with faults "
      + (choices.map { "and \($0.left) of \($0.before) choices " } ?? "")
      + "are left, after \(worlds) worlds"
  }
}

extension SimulatedWorlds {
  /// Makes the world of `seed` smaller as long as it violates the same invariant; `nil` for a world
  /// without a violation.
  ///
  /// - Parameter budget: the number of worlds that may be run.
  package func shrink(seed: UInt64, budget: Int = 4_000) throws -> ShrunkWorld? {
    var shape = WorldShape(steps: stepsWithFaults)
    shape.recordsChoices = true
    let whole = try run(seed: seed, shape: shape, print: nil)
    guard let violation = whole.violation else { return nil }
    shape.tape = whole.tape
    shape.steps = whole.tape?.steps.count ?? shape.steps
    var shrinker = Shrinker(shape, violation, budget: budget) {
      try run(seed: seed, shape: $0, print: nil).violation
    }
    try shrinker.shrink()
    let best = shrinker.best
    let lines = Lines()
    let last = try run(seed: seed, shape: best, print: { lines.add($0) })
    let names = best.reductions.map(\.rawValue)
    return ShrunkWorld(
      violation: last.violation ?? violation, steps: (best.steps, shape.steps),
      choices: best.tape.map { ($0.choiceCount, whole.tape?.choiceCount ?? 0) },
      reductions: names, options: last.options,
      shape: ["without: " + names.joined(separator: ", ")]
        + (best.tape.map { [$0.description] } ?? []),
      trace: lines.all, worlds: budget - shrinker.budget)
  }
}

/// Lines that a world prints.
private final class Lines: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// Makes a failing world smaller as long as it violates the same invariant.
///
/// A world with a tape of all its choices is shrunk by delta debugging: steps are removed in
/// chunks, then parts of the world, then single choices become benign. A world without a tape loses
/// parts and its last steps; since this changes all other choices, several variations of each shape
/// are tried.
struct Shrinker {
  /// The number of variations of one shape.
  private static let variations: UInt64 = 6

  private let run: (WorldShape) throws -> Violation?
  private let violation: Violation
  /// The number of worlds that may still be run.
  private(set) var budget: Int
  /// The smallest shape with the violation.
  private(set) var best: WorldShape

  init(
    _ shape: WorldShape, _ violation: Violation, budget: Int,
    run: @escaping (WorldShape) throws -> Violation?
  ) {
    best = shape
    self.violation = violation
    self.budget = budget
    self.run = run
  }

  /// Shrinks until nothing more can be removed, or the budget is spent.
  mutating func shrink() throws {
    if best.tape != nil {
      try accepts { $0.tape?.healing = [] }
    } else if violation.step < best.steps {
      // The steps after the violation did not cause it.
      let last = violation.step
      try accepts { $0.steps = last }
    }
    var before: WorldShape?
    while best != before, budget > 0 {
      before = best
      if best.tape == nil {
        try reduce()
        try shorten()
      } else {
        try removeSteps(\.steps)
        try reduce()
        try removeSteps(\.healing)
        try calm()
      }
    }
  }

  /// Accepts the changed shape if it has a variation with the same violation.
  @discardableResult
  private mutating func accepts(_ change: (inout WorldShape) -> Void) throws -> Bool {
    var shape = best
    change(&shape)
    shape.steps = shape.tape?.steps.count ?? shape.steps
    var variations = [shape.variation]
    if shape.tape == nil {
      variations += (0..<Self.variations).filter { $0 != shape.variation }
    }
    for variation in variations where budget > 0 {
      budget -= 1
      shape.variation = variation
      guard try run(shape)?.invariant == violation.invariant else { continue }
      best = shape
      return true
    }
    return false
  }

  private mutating func reduce() throws {
    for reduction in WorldReduction.allCases {
      while budget > 0, best.reductions.count(where: { $0 == reduction }) < reduction.limit {
        guard try accepts({ $0.reductions.append(reduction) }) else { break }
      }
    }
  }

  /// Removes the last steps.
  private mutating func shorten() throws {
    var cut = best.steps / 2
    while cut > 0, budget > 0 {
      if try accepts({ $0.steps -= cut }) == false { cut /= 2 }
      cut = min(cut, best.steps - 1)
    }
  }

  /// Removes steps from the tape, first in halves, at last one by one.
  private mutating func removeSteps(_ part: WritableKeyPath<ChoiceTape, [[UInt64?]]>) throws {
    var size = best.tape?[keyPath: part].count ?? 0
    while size > 0 {
      // From the end: what comes first causes what comes later.
      var end = best.tape?[keyPath: part].count ?? 0
      while end > 0 {
        let start = max(0, end - size)
        try accepts { $0.tape?[keyPath: part].removeSubrange(start..<end) }
        end = start
      }
      size /= 2
    }
  }

  /// Makes the choices of each step benign, all at once or one by one.
  private mutating func calm() throws {
    for step in (best.tape?.steps.indices ?? 0..<0).reversed() {
      guard let choices = best.tape?.steps[step], !choices.isEmpty else { continue }
      if try accepts({ $0.tape?.steps[step] = [] }) { continue }
      for choice in choices.indices.reversed() where choices[choice] != nil {
        try accepts { $0.tape?.steps[step][choice] = nil }
      }
    }
  }
}
