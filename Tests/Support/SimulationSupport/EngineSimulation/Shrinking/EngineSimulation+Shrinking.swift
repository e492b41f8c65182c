import Synchronization

extension EngineSimulation {
  /// A failing world made as small as it gets.
  package struct ShrunkWorld: Sendable {
    /// The violation it ends with.
    package var violation: Violation
    /// How many steps with faults it has, and the whole world had.
    package var steps: (left: Int, before: Int)
    /// What was taken away, in the order in which it was.
    package var reductions: [String]
    /// What the world is like.
    package var options: String
    /// What happens in it, a line for everything.
    package var trace: [String]
    /// How many worlds were run to find it.
    package var worlds: Int
  }

  /// A promise of a test's own: says of what happened in a world how it was broken.
  package typealias Promise = @Sendable (EngineTally) -> String?

  /// Makes the world of `seed` smaller as long as it breaks the same promise; `nil` when it breaks
  /// none.
  ///
  /// Taking something away changes what the generator is asked, and so the rest of the world:
  /// several worlds of each shape are tried.
  /// - Parameters:
  ///   - budget: How many worlds may be run for it.
  ///   - promise: One more promise, invariant `I0`.
  /// - Throws: ``LaneError``.
  package static func shrink(
    seed: UInt64, budget: Int = 2_000, promise: Promise? = nil
  ) throws(LaneError) -> ShrunkWorld? {
    let whole = try run(seed: seed, shape: .whole, promise: promise)
    guard let violation = whole.violation else { return nil }
    var shrinker = EngineShrinker(
      seed: seed, invariant: violation.invariant, budget: budget, promise: promise)
    try shrinker.shrink(from: violation)
    let lines = Lines()
    let last = try run(
      seed: seed, shape: shrinker.best, promise: promise, print: { lines.add($0) })
    return ShrunkWorld(
      violation: last.violation ?? violation,
      steps: (shrinker.best.steps, EngineShape.whole.steps),
      reductions: shrinker.best.reductions.map(\.name), options: last.options,
      trace: lines.all, worlds: budget - shrinker.budget)
  }
}

/// Lines that a world prints.
private final class Lines: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// Takes away what a failing engine world does not need for failing.
private struct EngineShrinker {
  /// How many worlds of one shape are tried.
  private static let variations: UInt64 = 6

  let seed: UInt64
  let invariant: String
  var budget: Int
  let promise: EngineSimulation.Promise?
  private(set) var best = EngineShape.whole

  init(
    seed: UInt64, invariant: String, budget: Int, promise: EngineSimulation.Promise?
  ) {
    self.seed = seed
    self.invariant = invariant
    self.budget = budget
    self.promise = promise
  }

  /// Shrinks until nothing more can go, or the budget is spent.
  mutating func shrink(from violation: Violation) throws(LaneError) {
    // What comes behind the violation never mattered.
    if violation.step < best.steps { _ = try accepts(steps: violation.step) }
    var isSmaller = true
    while isSmaller, budget > 0 {
      let before = (best.steps, best.reductions.count)
      try reduce()
      try shorten()
      isSmaller = before != (best.steps, best.reductions.count)
    }
  }

  private mutating func reduce() throws(LaneError) {
    for reduction in EngineShape.Reduction.allCases where !best.lacks(reduction) {
      var isAccepted = true
      while isAccepted, budget > 0 {
        var shape = best
        shape.reductions.append(reduction)
        isAccepted = try accepts(shape)
        if !reduction.repeats || best.reductions.count(where: { $0 == reduction }) > 3 { break }
      }
    }
  }

  private mutating func shorten() throws(LaneError) {
    var cut = best.steps / 2
    while cut > 0, budget > 0 {
      let isShorter = try accepts(steps: best.steps - cut)
      if !isShorter { cut /= 2 }
      cut = min(cut, best.steps - 1)
    }
  }

  private mutating func accepts(steps: Int) throws(LaneError) -> Bool {
    var shape = best
    shape.steps = steps
    return try accepts(shape)
  }

  /// Takes the first of the worlds of a shape that fails in the same way.
  private mutating func accepts(_ shape: EngineShape) throws(LaneError) -> Bool {
    var variations = [shape.variation]
    variations += (0..<Self.variations).filter { $0 != shape.variation }
    for variation in variations where budget > 0 {
      budget -= 1
      var shape = shape
      shape.variation = variation
      let report = try EngineSimulation.run(seed: seed, shape: shape, promise: promise)
      guard report.violation?.invariant == invariant else { continue }
      best = shape
      return true
    }
    return false
  }
}
