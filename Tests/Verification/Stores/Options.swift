import CommandLineKit
import StoreSimulation
import VerificationSupport

/// The options of the command `stores`.
struct Options: Sendable {
  /// The kinds of store.
  var kinds = StoreKind.all
  /// The seeds to run with each.
  var seeds: SeedOptions
  /// A fault to build in.
  var bug: PlantedStoreBug?
  /// Whether each world is run twice, to see whether both runs are the same.
  var isTwice = false
  /// Whether worlds are short.
  var isShort = false

  /// Reads the arguments after the command's name.
  init(_ arguments: inout Arguments) throws(UsageError) {
    seeds = try SeedOptions(&arguments, count: 200, most: 1_000_000)
    isTwice = arguments.flag("twice")
    isShort = arguments.flag("short")
    bug = try arguments.choice("bug", of: PlantedStoreBug.self)
    if let name = arguments.value("store") {
      kinds = StoreKind.all.filter { $0.name == name }
      guard !kinds.isEmpty else {
        let names = StoreKind.all.map(\.name).joined(separator: ", ")
        throw UsageError("--store needs one of \(names)")
      }
    }
    try arguments.end()
  }
}
