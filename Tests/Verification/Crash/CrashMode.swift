import SimulationSupport
import VerificationSupport

/// A kind of crash test; each prints lines of figures.
enum CrashMode: String, CaseIterable {
  case images
  case failures
  case damage
  case kills
  case calls
  case limits

  /// The distance between the calls of a server that fail, as it has thousands.
  private static let serverStride = 97

  /// Whether it plays scenarios that seeds decide.
  var hasScenarios: Bool { self == .images || self == .failures }

  /// The results of one scenario of each subject.
  func play(_ seed: UInt64) async -> CrashTally {
    let store = CrashRun<StateStoreSubject>(seed: seed)
    var server = CrashRun<ServerSubject>(seed: seed)
    server.imagesPerMoment = 1
    var tally = CrashTally()
    if self == .images {
      tally.add(await store.images())
      tally.add(await server.images())
    } else {
      tally.add(await store.failures())
      tally.add(await server.failures(stride: CrashMode.serverStride))
    }
    return tally
  }

  /// Answers whether everything held.
  func run(_ options: Options) async throws -> Bool {
    switch self {
    case .images:
      let store = await CrashMode.images(StateStoreSubject.self, options, options.seeds.count, 8)
      let server = await CrashMode.images(
        ServerSubject.self, options, max(1, options.seeds.count / Options.serverShare), 2)
      return store && server
    case .failures:
      let store = await CrashMode.failures(
        StateStoreSubject.self, options, max(1, options.seeds.count / 10), stride: 1)
      let server = await CrashMode.failures(
        ServerSubject.self, options, max(1, options.seeds.count / 10),
        stride: CrashMode.serverStride)
      return store && server
    case .damage:
      let tally = Damage.run(edits: options.edits)
      conclude("damage (state log): \(tally.text)")
      return tally.isGood
    case .kills: return try Kills(options).run()
    case .calls: return try SystemCalls(options).run()
    case .limits: return try Limits(options).run()
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
    let tally = await atOnce(options.seeds.jobs, of: count) {
      await body(options.seeds.first &+ UInt64($0))
    }
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
