import CommandLineKit
import Foundation
import SimulationSupport
import StoreSimulation
import VerificationSupport

/// The options of the command.
struct Options {
  /// The kinds of store.
  var kinds = StoreKind.all
  /// The number of seeds for each kind.
  var count = 200
  /// The first seed.
  var first: UInt64 = 0
  /// The number of threads.
  var jobs = ProcessInfo.processInfo.activeProcessorCount
  /// The fault to plant.
  var bug: PlantedStoreBug?
  /// The only seed to run.
  var seed: UInt64?
  /// Whether each seed is run twice, to compare the runs.
  var isTwice = false
  /// Whether the simulations are short.
  var isShort = false
  /// Whether to run the seeds one after the other, and to end at the first violation.
  var endsAtViolation = false
  /// Whether to print all events.
  var wantsTrace = false

  /// Reads the arguments after the command's name.
  init(_ arguments: inout Arguments) throws(UsageError) {
    count = try arguments.number("seeds", in: 1...1_000_000) ?? count
    first = try arguments.seed("from") ?? first
    jobs = try arguments.number("jobs", in: 1...256) ?? jobs
    seed = try arguments.seed("seed")
    isTwice = arguments.flag("twice")
    isShort = arguments.flag("short")
    wantsTrace = arguments.flag("trace")
    endsAtViolation = arguments.flag("until-violation")
    bug = try arguments.choice("bug", of: PlantedStoreBug.self)
    if let name = arguments.value("store") {
      kinds = StoreKind.all.filter { $0.name == name }
      guard !kinds.isEmpty else {
        let names = StoreKind.all.map(\.name).joined(separator: ", ")
        throw UsageError("--store needs one of \(names)")
      }
    }
    try arguments.end()
    if wantsTrace, seed == nil { throw UsageError("--trace needs --seed") }
  }

  /// Runs the simulation of a seed.
  func run(
    _ kind: StoreKind, _ seed: UInt64, print: (@Sendable (String) -> Void)? = nil
  ) throws(LaneError) -> StoreSimulation.Report {
    try StoreSimulation.run(
      kind, seed: seed, isShort: isShort, bug: bug, in: StoreSimulation.defaultFolder,
      print: print)
  }
}
