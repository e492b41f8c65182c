import CloudSyncTesting

/// What can be run; each prints a line of figures.
enum Programme: String, CaseIterable {
  case images
  case failures
  case damage
  case kills
  case calls
  case limits

  /// Answers whether everything held.
  func run(_ options: Options) async -> Bool {
    switch self {
    case .images:
      let store = await Programme.tally(options, options.seeds) { seed in
        var run = CrashRun<StateStoreSubject>(seed: seed)
        run.imagesPerMoment = 8
        return await run.images()
      }
      let server = await Programme.tally(options, max(1, options.seeds / 5)) { seed in
        var run = CrashRun<ServerSubject>(seed: seed)
        run.imagesPerMoment = 6
        return await run.images()
      }
      return [("state store", store), ("server", server)].reduce(true) { isGood, result in
        let (name, tally) = result
        say(
          "images (\(name)): \(tally.images) images, \(tally.byDepth[1]) of them of recoveries and "
            + "\(tally.byDepth[2]) of recoveries of recoveries, \(tally.acknowledged) changes "
            + "acknowledged, \(tally.violationCount) violations")
        return Programme.report(tally) && isGood
      }
    case .failures:
      let store = await Programme.tally(options, max(1, options.seeds / 10)) { seed in
        await CrashRun<StateStoreSubject>(seed: seed).failures()
      }
      let server = await Programme.tally(options, max(1, options.seeds / 50)) { seed in
        await CrashRun<ServerSubject>(seed: seed).failures()
      }
      return [("state store", store), ("server", server)].reduce(true) { isGood, result in
        let (name, tally) = result
        say(
          "failures (\(name)): \(tally.failures) runs with a failing call, \(tally.images) images, "
            + "\(tally.violationCount) violations")
        return Programme.report(tally) && isGood
      }
    case .damage:
      let tally = Damage.run(edits: options.edits)
      say("damage (state log): \(tally.text)")
      return tally.isGood
    case .kills: return await Kills(options).run()
    case .calls: return await SystemCalls(options).run()
    case .limits: return await Limits(options).run()
    }
  }

  private static func report(_ tally: CrashTally) -> Bool {
    for violation in tally.violations.prefix(10) { say("  " + violation) }
    return tally.violationCount == 0
  }

  /// Runs `body` for each seed, several at once.
  private static func tally(
    _ options: Options, _ count: Int, _ body: @escaping @Sendable (UInt64) async -> CrashTally
  ) async -> CrashTally {
    await atOnce(options.jobs, of: count) { await body(options.first &+ UInt64($0)) }
      .reduce(into: CrashTally()) { $0.add($1) }
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
