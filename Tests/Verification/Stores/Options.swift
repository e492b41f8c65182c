import CommandLineKit
import Foundation
import StoreSimulation
import VerificationSupport

/// What the command line asks for.
struct Options {
  /// The kinds of store.
  var kinds = StoreKind.all
  /// How many seeds to run with each.
  var count = 200
  /// The first of them.
  var first: UInt64 = 0
  /// How many threads run worlds.
  var jobs = ProcessInfo.processInfo.activeProcessorCount
  /// A fault to build in.
  var bug: PlantedStoreBug?
  /// The one seed to run, instead of many.
  var seed: UInt64?
  /// Whether each world is run twice, to see whether both runs are the same.
  var isTwice = false
  /// Whether worlds are short.
  var isShort = false
  /// Whether to end at the first violation, the worlds run one after the other.
  var endsAtViolation = false
  /// Whether to print everything that happens.
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
}
