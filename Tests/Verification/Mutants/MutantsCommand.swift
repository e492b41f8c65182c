import CommandLineKit
import Foundation
import Planted
package import VerificationSupport

/// The command `mutants` of the verification tool.
package let mutantsCommand: any VerificationCommand.Type = MutantsCommand.self

/// Changes the product's sources mechanically and counts the changes that no test detects.
enum MutantsCommand: VerificationCommand {
  static let name = "mutants"
  static let summary = "mechanical changes of the sources, which the tests must detect"
  static let usage = helpText(PackageResources.help_txt)

  /// The modules that are changed if none is named.
  static let modules = [
    "SyncMachine", "CloudMachine", "CloudSync", "LoopbackServer", "WebServices", "LoopbackHTTP",
    "SyncedStore",
  ]

  private struct Options {
    var count = 200
    var seed: UInt64 = 1
    var jobs = ProcessInfo.processInfo.activeProcessorCount
    var mutantSeconds = 240
    var percent = 95
    var root = "."
    var folder: String?
    var modules = MutantsCommand.modules
    var wantsList = false

    init(_ arguments: inout Arguments) throws(UsageError) {
      count = try arguments.number("count", in: 1...100_000) ?? count
      seed = try arguments.seed("seed") ?? seed
      jobs = try arguments.number("jobs", in: 1...256) ?? jobs
      mutantSeconds = try arguments.number("mutant-seconds", in: 1...86_400) ?? mutantSeconds
      percent = try arguments.number("percent", in: 0...100) ?? percent
      root = arguments.value("root") ?? root
      folder = arguments.value("folder")
      let names = arguments.values("module")
      if !names.isEmpty { modules = names }
      wantsList = arguments.flag("list")
      try arguments.end()
    }
  }

  static func run(_ arguments: inout Arguments) throws -> Bool {
    let options = try Options(&arguments)
    let root = URL(fileURLWithPath: options.root)
    let equivalent = try EquivalentMutants(of: root)
    var sample = try MutantSample(of: root, modules: options.modules, seed: options.seed)
    let chosen = sample.draw(options.count) { !equivalent.contains($0) }
    if options.wantsList {
      for mutant in chosen { print(mutant.name) }
      return true
    }
    let folder =
      options.folder.map { URL(fileURLWithPath: $0) }
      ?? root.appendingPathComponent(".build/mutants")
    say("building the tests with \(chosen.count) mutants, seed \(options.seed)")
    let mutants = try MutatedCopy(root: root, folder: folder).build(
      Dictionary(uniqueKeysWithValues: chosen.enumerated().map { ($0.offset + 1, $0.element) }))
    let suites = try TestSuites(of: folder, jobs: options.jobs, count: chosen.count + 1)
    say("\(suites.suites.count) suites execute a mutant; \(suites.failing.count) fail without one")
    for name in suites.failing { say("  \(name)") }
    let numbers = mutants.keys.sorted()
    let verdicts = try runOnThreads(options.jobs, count: numbers.count, into: [:]) { index in
      try suites.verdict(on: numbers[index], most: Double(options.mutantSeconds))
    } combine: { (verdicts: inout [Int: TestSuites.Verdict], index, verdict) in
      verdicts[numbers[index]] = verdict
      guard case .survived(let suites, let all) = verdict, let mutant = mutants[numbers[index]]
      else { return }
      say("SURVIVED \(mutant.path):\(mutant.lines.lowerBound) (\(suites) of \(all) suites)")
      say("  \(mutant.name)")
    }
    return report(mutants, verdicts, percent: options.percent)
  }

  private static func report(
    _ mutants: [Int: Mutant], _ verdicts: [Int: TestSuites.Verdict], percent: Int
  ) -> Bool {
    let modules = Dictionary(grouping: mutants.keys) { mutants[$0]?.module ?? "" }
    var isWell = true
    var lines: [String] = []
    for (module, numbers) in modules.sorted(by: { $0.key < $1.key }) {
      let killed = numbers.count { verdicts[$0]?.isKilled == true }
      isWell = isWell && killed * 100 >= numbers.count * percent
      lines.append("\(module) \(killed) of \(numbers.count)")
    }
    let killed = verdicts.values.count(where: \.isKilled)
    conclude(
      "\(killed) of \(mutants.count) mutants killed (\(killed * 100 / max(1, mutants.count)) %): "
        + lines.joined(separator: ", "))
    return isWell
  }
}
