import Foundation
import Planted
import VerificationSupport

/// The mutants of some modules, drawn in an order that follows from a seed.
struct MutantSample {
  /// The mutants that are left, by module and kind.
  private var rest: [String: [Mutant.Kind: [Mutant]]] = [:]
  private let modules: [String]
  private var random: SeededGenerator
  private var drawn: [Mutant] = []

  /// Finds the mutants of the package at `root`.
  init(of root: URL, modules: [String], seed: UInt64) throws {
    self.modules = modules
    random = SeededGenerator(seed: seed)
    for module in modules {
      let folder = root.appendingPathComponent("Sources/\(module)")
      let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        .filter { $0.hasSuffix(".swift") }.sorted()
      guard !files.isEmpty else { throw PlantingError("there is no module \(module)") }
      let mutants = try files.flatMap { file in
        let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
        return Mutator.mutants(of: text, at: "Sources/\(module)/\(file)")
      }
      rest[module] = Dictionary(grouping: mutants, by: \.kind)
    }
  }

  /// All mutants.
  var all: [Mutant] {
    modules.flatMap { module in Mutant.Kind.allCases.flatMap { rest[module]?[$0] ?? [] } }
  }

  /// Draws mutants that do not overlap, as many of each module and of each kind as possible.
  mutating func draw(_ count: Int, where isIncluded: (Mutant) -> Bool) -> [Mutant] {
    while drawn.count < count {
      let before = rest.values.flatMap(\.values).reduce(0) { $0 + $1.count }
      for module in modules where drawn.count < count { drawOne(of: module, isIncluded) }
      if before == rest.values.flatMap(\.values).reduce(0, { $0 + $1.count }) { break }
    }
    return drawn
  }

  private mutating func drawOne(of module: String, _ isIncluded: (Mutant) -> Bool) {
    while true {
      let kinds = Mutant.Kind.allCases.filter { rest[module]?[$0]?.isEmpty == false }
      guard !kinds.isEmpty else { return }
      let kind = random.one(of: kinds)
      guard let count = rest[module]?[kind]?.count,
        let mutant = rest[module]?[kind]?.remove(at: random.below(count))
      else { return }
      let overlaps = drawn.contains { $0.path == mutant.path && $0.range.overlaps(mutant.range) }
      guard !overlaps, isIncluded(mutant) else { continue }
      return drawn.append(mutant)
    }
  }
}

/// The mutants that no test can detect, with the reason for each.
struct EquivalentMutants: Sendable {
  /// The names.
  let names: Set<String>

  /// Reads the file of the package at `root`: a name and a reason in turn.
  init(of root: URL) throws {
    let file = root.appendingPathComponent("Tests/Verification/Mutants/equivalent.txt")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }
    for (name, reason) in zip(lines, lines.dropFirst()).enumerated().filter({ $0.offset % 2 == 0 })
      .map(\.element) where !reason.hasPrefix("  ") || name.hasPrefix("  ")
    {
      throw PlantingError("\(name) has no reason in equivalent.txt")
    }
    names = Set(lines.filter { !$0.hasPrefix("  ") }.map(String.init))
  }

  func contains(_ mutant: Mutant) -> Bool { names.contains(mutant.name) }
}
