import CommandLineKit
import Foundation
import Planting

/// Plants faults and counts the seeds that the simulators need to find them.
@main
struct Planted {
  static func main() {
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      if options.wantsHelp {
        print(Options.usage)
        return
      }
      if options.wantsList {
        list()
        return
      }
      exit(try (options.wantsCheck ? check(options) : run(options)) ? 0 : 1)
    } catch {
      Output.writeError("cloudsync-planted: \(error)\n")
      exit(error is UsageError ? 2 : 1)
    }
  }

  private static func list() {
    for (index, fault) in Catalogue.all.enumerated() {
      let programmes = fault.programmes.map(\.name).joined(separator: ", ")
      print("\(index + 1)  \(fault.name)  \(fault.target)  by \(programmes)\n   \(fault.story)")
    }
  }

  /// Answers whether every fault fits the code.
  private static func check(_ options: Options) throws -> Bool {
    let root = URL(fileURLWithPath: options.root)
    var isWell = true
    for fault in Catalogue.all {
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

  /// Answers whether every fault was found and no healthy world broke a promise.
  private static func run(_ options: Options) throws -> Bool {
    let faults = Catalogue.all
    let chosen = faults.indices.filter {
      options.names.isEmpty || options.names.contains(faults[$0].name)
    }
    let programs = try build(faults, products(of: chosen.map { faults[$0] }), options)
    let field = Field(options, programs: programs)
    let jobs = chosen.map { (number: $0 + 1, programmes: faults[$0].programmes) }
    let verdicts = field.run(jobs, seeds: options.seeds) { index, verdicts in
      Output.write(line(faults[chosen[index]], verdicts) + "\n")
    }
    let programmes = Set(chosen.flatMap { faults[$0].programmes }).sorted { $0.name < $1.name }
    let healthy = Field(options.healthy, programs: programs).run(
      programmes.map { (number: 0, programmes: [$0]) }, seeds: options.healthySeeds
    ) { index, verdicts in
      Output.write(line(verdicts, ofHealthy: programmes[index]) + "\n")
    }
    return sum(up: verdicts, healthy)
  }

  private static func products(of faults: [PlantedFault]) -> [String] {
    Set(faults.flatMap { $0.programmes.map(\.product) }).sorted()
  }

  /// Builds each simulator once with every fault in it.
  private static func build(
    _ faults: [PlantedFault], _ products: [String], _ options: Options
  ) throws -> [String: URL] {
    let root = URL(fileURLWithPath: options.root)
    let folder =
      options.folder.map { URL(fileURLWithPath: $0) }
      ?? root.appendingPathComponent(".build/planted")
    let bed = SeedBed(root: root, folder: folder)
    try bed.plant(Planter(faults))
    var programs: [String: URL] = [:]
    for product in products {
      Output.writeError("building \(product) with \(faults.count) faults in it\n")
      programs[product] = try bed.build(product)
    }
    return programs
  }

  private static func line(_ fault: PlantedFault, _ verdicts: [Verdict]) -> String {
    guard let last = verdicts.last else { return "\(fault.name): nobody is to find it" }
    let end =
      switch last.end {
      case .violation(let message): "found by \(last.programme.name) in \(last.seeds): \(message)"
      case .trap(let signal):
        "found by \(last.programme.name) in \(last.seeds): ended by signal \(signal)"
      case .nothing, .tooLong, .failure:
        "NOT FOUND: " + verdicts.map(words(of:)).joined(separator: "; ")
      }
    return "\(fault.target): \(fault.name): \(end)"
  }

  private static func line(_ verdicts: [Verdict], ofHealthy programme: Programme) -> String {
    guard let verdict = verdicts.last else { return "\(programme.name): not run" }
    if verdict.isHealthy {
      return "no fault: \(programme.name): \(verdict.seeds) seeds, 0 violations"
    }
    return "no fault: \(programme.name): " + words(of: verdict)
  }

  private static func words(of verdict: Verdict) -> String {
    switch verdict.end {
    case .violation(let message): "\(verdict.programme.name): \(message)"
    case .trap(let signal): "\(verdict.programme.name): ended by signal \(signal)"
    case .nothing: "\(verdict.programme.name): \(verdict.seeds) seeds without a violation"
    case .tooLong: "\(verdict.programme.name): no time after \(verdict.seeds) seeds"
    case .failure(let message): "\(verdict.programme.name): could not be run: \(message)"
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
    print(
      "\(seeds.count) of \(verdicts.count) planted faults found, median \(median) seeds, "
        + "at most \(seeds.last ?? 0); without a fault \(broken.count) of \(healthy.count) "
        + "programmes reported anything in \(healthySeeds) seeds")
    return seeds.count == verdicts.count && broken.isEmpty
  }
}
