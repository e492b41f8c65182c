import CommandLineKit
import Foundation
package import VerificationSupport

/// The command `planted` of the verification tool.
package let plantedCommand: any VerificationCommand.Type = PlantedCommand.self

/// Plants faults and counts the seeds that the simulators need to find them.
enum PlantedCommand: VerificationCommand {
  static let name = "planted"
  static let summary = "faults in a copy of the sources, which the other commands must find"
  static let usage = helpText(PackageResources.help_txt)

  static func run(_ arguments: inout Arguments) throws -> Bool {
    let options = try Options(&arguments)
    let faults = try FaultCatalogue.faults(of: URL(fileURLWithPath: options.root))
    for name in options.names where !faults.contains(where: { $0.name == name }) {
      throw UsageError("there is no fault called \(printable(name)); see --list")
    }
    if options.wantsList {
      list(faults)
      return true
    }
    return try options.wantsCheck ? check(faults, options) : run(faults, options)
  }

  private static func list(_ faults: [PlantedFault]) {
    for (index, fault) in faults.enumerated() {
      let detectors = fault.detectors.map(\.name).joined(separator: ", ")
      print("\(index + 1)  \(fault.name)  \(fault.target)  by \(detectors)\n   \(fault.story)")
    }
  }

  /// Checks whether every fault fits the code.
  private static func check(_ faults: [PlantedFault], _ options: Options) throws -> Bool {
    let root = URL(fileURLWithPath: options.root)
    var isWell = true
    for fault in faults {
      do {
        for path in Set(fault.edits.map(\.path)).sorted() {
          let data = try Data(contentsOf: root.appendingPathComponent(path))
          _ = try Planter([fault]).planted(String(decoding: data, as: UTF8.self), at: path)
        }
      } catch {
        isWell = false
        print("\(fault.name): \(error)")
      }
    }
    return isWell
  }

  /// Checks whether every fault is found, and nothing without a fault.
  private static func run(_ faults: [PlantedFault], _ options: Options) throws -> Bool {
    let chosen = faults.indices.filter {
      options.names.isEmpty || options.names.contains(faults[$0].name)
    }
    let program = try build(faults, options)
    let runs = PlantedRuns(options, program: program)
    let jobs = chosen.map { (number: $0 + 1, detectors: faults[$0].detectors) }
    let verdicts = try runs.run(jobs, seeds: options.seeds) { index, verdicts in
      Output.write(line(faults[chosen[index]], verdicts) + "\n")
    }
    let detectors = Set(chosen.flatMap { faults[$0].detectors }).sorted { $0.name < $1.name }
    let healthy = try PlantedRuns(options.healthy, program: program).run(
      detectors.map { (number: 0, detectors: [$0]) }, seeds: options.healthySeeds
    ) { index, verdicts in
      Output.write(line(verdicts, ofHealthy: detectors[index]) + "\n")
    }
    return sum(up: verdicts, healthy)
  }

  /// Builds the tool once with every fault in it.
  private static func build(_ faults: [PlantedFault], _ options: Options) throws -> URL {
    let root = URL(fileURLWithPath: options.root)
    let folder =
      options.folder.map { URL(fileURLWithPath: $0) }
      ?? root.appendingPathComponent(".build/planted")
    let copy = PlantedCopy(root: root, folder: folder)
    try copy.plant(Planter(faults))
    Output.writeError("building the tool with \(faults.count) faults in it\n")
    return try copy.build("cloudsync-verify")
  }

  private static func line(_ fault: PlantedFault, _ verdicts: [Verdict]) -> String {
    guard let last = verdicts.last else { return "\(fault.name): no detector is named" }
    let end =
      switch last.end {
      case .violation(let message): "found by \(last.detector.name) in \(last.seeds): \(message)"
      case .trap(let signal):
        "found by \(last.detector.name) in \(last.seeds): ended by signal \(signal)"
      case .nothing, .tooLong, .failure:
        "NOT FOUND: " + verdicts.map(words(of:)).joined(separator: "; ")
      }
    return "\(fault.target): \(fault.name): \(end)"
  }

  private static func line(_ verdicts: [Verdict], ofHealthy detector: Detector) -> String {
    guard let verdict = verdicts.last else { return "\(detector.name): not run" }
    if verdict.isHealthy {
      return "no fault: \(detector.name): \(verdict.seeds) seeds, 0 violations"
    }
    return "no fault: \(detector.name): " + words(of: verdict)
  }

  private static func words(of verdict: Verdict) -> String {
    switch verdict.end {
    case .violation(let message): "\(verdict.detector.name): \(message)"
    case .trap(let signal): "\(verdict.detector.name): ended by signal \(signal)"
    case .nothing: "\(verdict.detector.name): \(verdict.seeds) seeds without a violation"
    case .tooLong: "\(verdict.detector.name): no time after \(verdict.seeds) seeds"
    case .failure(let message): "\(verdict.detector.name): could not be run: \(message)"
    }
  }

  private static func sum(up verdicts: [[Verdict]], _ healthy: [[Verdict]]) -> Bool {
    let seeds = verdicts.compactMap { verdicts -> Int? in
      guard let last = verdicts.last, last.isFound else { return nil }
      return verdicts.reduce(0) { $0 + $1.seeds }
    }.sorted()
    let median = seeds.isEmpty ? "no" : "\(seeds[(seeds.count - 1) / 2])"
    let broken = healthy.filter { $0.last?.isHealthy != true }
    let healthySeeds = healthy.reduce(0) { $0 + ($1.last?.seeds ?? 0) }
    conclude(
      "\(seeds.count) of \(verdicts.count) planted faults found, median \(median) seeds, "
        + "at most \(seeds.last ?? 0); without a fault \(broken.count) of \(healthy.count) "
        + "kinds of runs reported anything in \(healthySeeds) seeds")
    return seeds.count == verdicts.count && broken.isEmpty
  }
}
