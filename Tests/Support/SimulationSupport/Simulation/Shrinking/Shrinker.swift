/// Makes a failing world smaller as long as it fails in the same way.
///
/// Delta debugging over the world's tape: steps are taken out in chunks, then what the world is
/// like is reduced, then single choices become benign, until nothing more can go.
struct Shrinker {
  /// A world that fails.
  struct Candidate {
    var tape: ChoiceTape
    var reductions: [WorldReduction] = []
  }

  /// Runs a candidate; the violation it ends with.
  let run: (Candidate) -> Violation?
  /// The invariant that must stay broken.
  let invariant: String
  /// How many worlds may be run.
  var budget: Int

  private(set) var best: Candidate

  init(
    _ candidate: Candidate, invariant: String, budget: Int, run: @escaping (Candidate) -> Violation?
  ) {
    best = candidate
    self.invariant = invariant
    self.budget = budget
    self.run = run
  }

  /// Takes `candidate` when it fails in the same way.
  private mutating func accepts(_ candidate: Candidate) -> Bool {
    guard budget > 0 else { return false }
    budget -= 1
    guard run(candidate)?.invariant == invariant else { return false }
    best = candidate
    return true
  }

  /// Shrinks until nothing more can go, or the budget is spent.
  mutating func shrink() {
    var candidate = best
    candidate.tape.healing = []
    _ = accepts(candidate)
    var isSmaller = true
    while isSmaller, budget > 0 {
      let before = (best.tape.steps.count, best.tape.choiceCount, best.reductions.count)
      removeSteps(\.steps)
      reduce()
      removeSteps(\.healing)
      calm(\.steps)
      isSmaller = before != (best.tape.steps.count, best.tape.choiceCount, best.reductions.count)
    }
  }

  /// Takes steps out, first halves, at last single ones.
  private mutating func removeSteps(_ part: WritableKeyPath<ChoiceTape, [[UInt64?]]>) {
    var size = best.tape[keyPath: part].count
    while size > 0 {
      // From the end: what comes first causes what comes later.
      var end = best.tape[keyPath: part].count
      while end > 0 {
        var candidate = best
        let start = max(0, end - size)
        candidate.tape[keyPath: part].removeSubrange(start..<end)
        _ = accepts(candidate)
        end = start
      }
      size /= 2
    }
  }

  private mutating func reduce() {
    for reduction in WorldReduction.allCases where !best.reductions.contains(reduction) {
      var isAccepted = true
      while isAccepted {
        var candidate = best
        candidate.reductions.append(reduction)
        isAccepted =
          accepts(candidate) && reduction.repeats
          && best.reductions.count { $0 == reduction } < 4
      }
    }
  }

  /// Makes the choices of each step benign, all at once or one by one.
  private mutating func calm(_ part: WritableKeyPath<ChoiceTape, [[UInt64?]]>) {
    for step in best.tape[keyPath: part].indices.reversed() {
      var candidate = best
      candidate.tape[keyPath: part][step] = []
      if best.tape[keyPath: part][step].isEmpty || accepts(candidate) { continue }
      for choice in best.tape[keyPath: part][step].indices.reversed()
      where best.tape[keyPath: part][step][choice] != nil {
        candidate = best
        candidate.tape[keyPath: part][step][choice] = nil
        _ = accepts(candidate)
      }
    }
  }
}
