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
  /// How many times more scenarios of images the state store has: the server's cost a hundred
  /// times as much.
  private static let serverShare = 40

  /// Whether it plays scenarios that seeds decide.
  var hasScenarios: Bool { self == .images || self == .failures }

  /// The results of one scenario of each subject.
  func play(_ seed: UInt64) async -> CrashTally {
    var tally = await play(StateStoreSubject.self, seed)
    tally.add(await play(ItemStoreSubject.self, seed))
    tally.add(await play(ServerSubject.self, seed, imagesPerMoment: 1))
    return tally
  }

  private func play<Subject: CrashSubject>(
    _ subject: Subject.Type, _ seed: UInt64, imagesPerMoment: Int = 4
  ) async -> CrashTally {
    var run = CrashRun<Subject>(seed: seed)
    run.imagesPerMoment = imagesPerMoment
    guard self == .failures else { return await run.images() }
    return await run.failures(stride: subject == ServerSubject.self ? Self.serverStride : 1)
  }

  /// Answers whether everything held.
  func run(_ options: Options) async throws -> Bool {
    let count = options.seeds.count
    switch self {
    case .images:
      let store = await run(StateStoreSubject.self, options, count, imagesPerMoment: 8)
      let items = await run(ItemStoreSubject.self, options, count, imagesPerMoment: 8)
      let server = await run(
        ServerSubject.self, options, max(1, count / Self.serverShare), imagesPerMoment: 2)
      return store && items && server
    case .failures:
      let store = await run(StateStoreSubject.self, options, max(1, count / 10))
      let items = await run(ItemStoreSubject.self, options, max(1, count / 10))
      let server = await run(ServerSubject.self, options, max(1, count / 10))
      return store && items && server
    case .damage:
      let tally = Damage.run(edits: options.edits)
      conclude("damage (state log): \(tally.text)")
      return tally.isGood
    case .kills: return try ProcessTests(options: options).kills()
    case .calls: return try ProcessTests(options: options).systemCalls()
    case .limits: return try ProcessTests(options: options).limits()
    }
  }

  /// Plays `count` scenarios of one subject and prints the figures.
  private func run<Subject: CrashSubject>(
    _ subject: Subject.Type, _ options: Options, _ count: Int, imagesPerMoment: Int = 4
  ) async -> Bool {
    let start = ContinuousClock.now
    let jobs = min(options.seeds.jobs, count)
    let tally = await withTaskGroup(of: CrashTally.self) { group in
      for job in 0..<jobs {
        group.addTask {
          var tally = CrashTally()
          for number in stride(from: job, to: count, by: jobs) {
            let seed = options.seeds.first &+ UInt64(number)
            tally.add(await play(subject, seed, imagesPerMoment: imagesPerMoment))
          }
          return tally
        }
      }
      return await group.reduce(into: CrashTally()) { $0.add($1) }
    }
    let figures =
      self == .images
      ? "\(tally.images) images of \(count) scenarios, \(tally.byDepth[1]) of them of recoveries "
        + "and \(tally.byDepth[2]) of recoveries of recoveries, "
        + "\(tally.acknowledged) changes acknowledged"
      : "\(tally.failures) runs of \(count) scenarios with a failing call, \(tally.images) images"
    conclude(
      "\(self) (\(Subject.name)): \(figures), \(tally.violationCount) violations, "
        + "\((ContinuousClock.now - start).components.seconds) s")
    for violation in tally.violations.prefix(10) { say("  " + violation) }
    return tally.violationCount == 0
  }
}
