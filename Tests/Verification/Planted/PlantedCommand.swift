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
    let chosen = faults.indices.filter { index in
      faults[index].detectors.contains { $0.name == Detector.cluster } == options.isCluster
        && (options.names.isEmpty || options.names.contains(faults[index].name))
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
    ) { _, verdicts in
      for verdict in verdicts { Output.write(line(ofHealthy: verdict) + "\n") }
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
    return try copy.build("cloudsync-verify", isCluster: options.isCluster)
  }

  private static func line(_ fault: PlantedFault, _ verdicts: [Verdict]) -> String {
    let last = verdicts.last { $0.isFound }
    let found = last.map { "found by \($0.detector.name) in \($0.seeds): \($0.text)" }
    let texts = verdicts.map { "\($0.detector.name): \($0.text)" }
    return "\(fault.target): \(fault.name): "
      + (found ?? "NOT FOUND: \(texts.joined(separator: "; "))")
  }

  private static func line(ofHealthy verdict: Verdict) -> String {
    let text = verdict.isHealthy ? "\(verdict.seeds) seeds, 0 violations" : verdict.text
    return "no fault: \(verdict.detector.name): \(text)"
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
