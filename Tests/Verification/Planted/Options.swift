import CommandLineKit
import Foundation
import VerificationSupport

/// The options of the command.
struct Options {
  /// The most seeds that each programme runs with a fault.
  var seeds = 10_000
  /// The number of processes that run at once.
  var jobs = ProcessInfo.processInfo.activeProcessorCount
  /// The longest that all runs with a fault together may take, in seconds.
  var seconds = 540
  /// The longest that one run may take, in seconds.
  var runSeconds = 120
  /// The most seeds that each programme runs without a fault.
  var healthySeeds = 200
  /// The longest that one programme runs without a fault, in seconds.
  var healthySeconds = 20
  /// The package whose sources are copied.
  var root = "."
  /// The folder of the copy and its build, which the next run updates.
  var folder: String?
  /// The only faults to run, by name; all when empty.
  var names: [String] = []
  /// Whether to print the faults only.
  var wantsList = false
  /// Whether to say only which faults no longer fit the code.
  var wantsCheck = false
  /// Whether the faults of the storage in PostgreSQL are run, in place of the others.
  var isCluster = false
  /// The options for the runs without a fault, which have a time of their own.
  var healthy: Options {
    var options = self
    options.runSeconds = healthySeconds
    options.seconds = 86_400
    return options
  }

  /// Reads the arguments after the command's name.
  init(_ arguments: inout Arguments) throws(UsageError) {
    seeds = try arguments.number("seeds", in: 1...1_000_000) ?? seeds
    jobs = try arguments.number("jobs", in: 1...256) ?? jobs
    seconds = try arguments.number("seconds", in: 1...86_400) ?? seconds
    runSeconds = try arguments.number("run-seconds", in: 1...86_400) ?? runSeconds
    healthySeeds = try arguments.number("healthy-seeds", in: 1...1_000_000) ?? healthySeeds
    healthySeconds = try arguments.number("healthy-seconds", in: 1...86_400) ?? healthySeconds
    root = arguments.value("root") ?? root
    folder = arguments.value("folder")
    names = arguments.values("fault")
    isCluster = arguments.flag("cluster")
    if isCluster { (seeds, jobs, seconds, runSeconds) = (3, 1, 3_600, 600) }
    if isCluster { (healthySeeds, healthySeconds) = (2, 600) }
    wantsCheck = arguments.flag("check")
    wantsList = arguments.flag("list")
    try arguments.end()
  }
}
