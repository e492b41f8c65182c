import SimulationSupport
import VerificationSupport

/// What can be run; each prints lines of figures.
enum Programme: String, CaseIterable {
  case images
  case failures
  case damage
  case kills
  case calls
  case limits

  /// How many of a server's calls fail: every so-manieth, as it has thousands.
  private static let serverStride = 97

  /// Whether it plays scenarios that seeds decide.
  var hasScenarios: Bool { self == .images || self == .failures }

  /// Plays scenario after scenario up to the first that loses something; says the number of each
  /// before it begins, so that whoever watches knows which one ended the process.
  static func runUntilViolation(_ options: Options) async -> Bool {
    for seed in options.first..<options.first &+ UInt64(options.seeds) {
      say("world \(seed)")
      for programme in options.programmes {
        let tally = await programme.play(seed)
        guard let violation = tally.violations.first else { continue }
        say(violation)
        return false
      }
    }
    return true
  }

  /// What one scenario of each subject comes to.
  private func play(_ seed: UInt64) async -> CrashTally {
    let store = CrashRun<StateStoreSubject>(seed: seed)
    var server = CrashRun<ServerSubject>(seed: seed)
    server.imagesPerMoment = 1
    var tally = CrashTally()
    if self == .images {
      tally.add(await store.images())
      tally.add(await server.images())
    } else {
      tally.add(await store.failures())
      tally.add(await server.failures(stride: Programme.serverStride))
    }
    return tally
  }

  /// Answers whether everything held.
  func run(_ options: Options) async -> Bool {
    switch self {
    case .images:
      let store = await Programme.images(StateStoreSubject.self, options, options.seeds, 8)
      let server = await Programme.images(
        ServerSubject.self, options, max(1, options.seeds / Options.serverShare), 2)
      return store && server
    case .failures:
      let store = await Programme.failures(
        StateStoreSubject.self, options, max(1, options.seeds / 10), stride: 1)
      let server = await Programme.failures(
        ServerSubject.self, options, max(1, options.seeds / 10), stride: Programme.serverStride)
      return store && server
    case .damage:
      let tally = Damage.run(edits: options.edits)
      conclude("damage (state log): \(tally.text)")
      return tally.isGood
    case .kills: return await Kills(options).run()
    case .calls: return await SystemCalls(options).run()
    case .limits: return await Limits(options).run()
    }
  }

  private static func images<Subject: CrashSubject>(
    _ subject: Subject.Type, _ options: Options, _ count: Int, _ imagesPerMoment: Int
  ) async -> Bool {
    let (tally, seconds) = await tally(options, count) { seed in
      var run = CrashRun<Subject>(seed: seed)
      run.imagesPerMoment = imagesPerMoment
      return await run.images()
    }
    conclude(
      "images (\(Subject.name)): \(tally.images) images of \(count) scenarios, "
        + "\(tally.byDepth[1]) of them of recoveries and \(tally.byDepth[2]) of recoveries of "
        + "recoveries, \(tally.acknowledged) changes acknowledged, \(tally.violationCount) "
        + "violations, \(seconds) s")
    return report(tally)
  }

  private static func failures<Subject: CrashSubject>(
    _ subject: Subject.Type, _ options: Options, _ count: Int, stride: Int
  ) async -> Bool {
    let (tally, seconds) = await tally(options, count) { seed in
      await CrashRun<Subject>(seed: seed).failures(stride: stride)
    }
    conclude(
      "failures (\(Subject.name)): \(tally.failures) runs of \(count) scenarios with a failing "
        + "call, \(tally.images) images, \(tally.violationCount) violations, \(seconds) s")
    return report(tally)
  }

  private static func report(_ tally: CrashTally) -> Bool {
    for violation in tally.violations.prefix(10) { say("  " + violation) }
    return tally.violationCount == 0
  }

  /// Runs `body` for each seed, several at once, and answers how many seconds it took.
  private static func tally(
    _ options: Options, _ count: Int, _ body: @escaping @Sendable (UInt64) async -> CrashTally
  ) async -> (CrashTally, Int64) {
    let clock = ContinuousClock()
    let start = clock.now
    let tally = await atOnce(options.jobs, of: count) { await body(options.first &+ UInt64($0)) }
      .reduce(into: CrashTally()) { $0.add($1) }
    return (tally, (clock.now - start).components.seconds)
  }
}

/// Does `body` for the numbers below `count`, `jobs` of them at once; answers in their order.
func atOnce<Value: Sendable>(
  _ jobs: Int, of count: Int, _ body: @escaping @Sendable (Int) async -> Value
) async -> [Value] {
  await withTaskGroup(of: (Int, Value).self) { group in
    var next = 0
    var values: [Int: Value] = [:]
    while next < min(jobs, count) {
      group.addTask { [next] in (next, await body(next)) }
      next += 1
    }
    for await (number, value) in group {
      values[number] = value
      if next < count {
        group.addTask { [next] in (next, await body(next)) }
        next += 1
      }
    }
    return (0..<count).compactMap { values[$0] }
  }
}
