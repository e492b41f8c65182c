import Foundation
import Planted
import VerificationSupport

/// A copy of the package with mutants in it, of which the environment activates one.
struct MutatedCopy {
  /// The package that is copied.
  let root: URL
  /// The folder of the copy.
  let folder: URL

  /// The environment's variable with the number of the active mutant.
  static let active = "CLOUDSYNC_MUTANT"
  /// The environment's variable with the path of the file that has a byte for each mutant, which
  /// becomes 1 when the mutant's place is executed.
  static let seen = "CLOUDSYNC_MUTANTS_SEEN"

  /// Builds the tests with all mutants that compile.
  ///
  /// - Parameter mutants: The mutants, by number.
  /// - Returns: Those that compile.
  func build(_ mutants: [Int: Mutant]) throws -> [Int: Mutant] {
    var mutants = mutants
    while true {
      let places = try write(mutants)
      let outcome = try ProcessOutcome.run(
        [
          ProcessInfo.processInfo.environment["SWIFT"] ?? "swift", "build", "--build-tests",
          "--package-path", folder.path, "-Xswiftc", "-continue-building-after-errors",
        ], environment: ["CLOUDSYNC_STRICT": "0"], seconds: 3_600)
      if outcome.status == 0 { return mutants }
      let wrong = wrongMutants(outcome.output, places)
      guard !wrong.isEmpty else {
        throw PlantingError("the copy can't be built:\n\(outcome.output.suffix(4_000))")
      }
      for number in wrong { mutants[number] = nil }
      say("\(wrong.count) mutants do not compile; \(mutants.count) are left")
    }
  }

  /// The mutants at the errors of a build; where there is none, the one before, which may leave a
  /// function without a result.
  private func wrongMutants(_ output: String, _ places: [Place]) -> Set<Int> {
    var wrong: Set<Int> = []
    for error in output.matches(of: /([^ \n]+\.swift):(\d+):\d+: error:/) {
      let line = Int(error.output.2) ?? 0
      let here = places.filter { error.output.1.hasSuffix("/" + $0.path) }
      let exact = here.filter { $0.lines.contains(line) }
      let before = here.filter { $0.lines.lowerBound < line }
        .max { $0.lines.lowerBound < $1.lines.lowerBound }
      wrong.formUnion((exact.isEmpty ? [before].compactMap(\.self) : exact).map(\.number))
    }
    return wrong
  }

  /// Where a mutant is in the mutated files.
  private struct Place {
    var number: Int
    var path: String
    var lines: ClosedRange<Int>
  }

  private func write(_ mutants: [Int: Mutant]) throws -> [Place] {
    var texts: [String: String] = [:]
    var places: [Place] = []
    var declarations: [String: String] = [:]
    let byPath = Dictionary(grouping: mutants.sorted { $0.key < $1.key }) { $0.value.path }
    for (path, ones) in byPath {
      var bytes = Array(try Data(contentsOf: root.appendingPathComponent(path)))
      var mutated: [UInt8] = []
      var end = 0
      for (number, mutant) in ones.sorted(by: {
        $0.value.range.lowerBound < $1.value.range.lowerBound
      }) {
        mutated += bytes[end..<mutant.range.lowerBound]
        let line = 1 + mutated.count { $0 == UInt8(ascii: "\n") }
        let text = mutant.text(number)
        mutated += Array(text.utf8)
        end = mutant.range.upperBound
        let last = line + text.utf8.count { $0 == UInt8(ascii: "\n") }
        places.append(Place(number: number, path: path, lines: line...last))
        declarations[mutant.module, default: ""] += mutant.declaration(number)
      }
      bytes.removeFirst(end)
      texts[path] = String(decoding: mutated + bytes, as: UTF8.self)
    }
    for (module, text) in declarations {
      texts["Sources/\(module)/PlantedSwitch.swift"] = Self.switchFile + text
    }
    try SourceCopy(root: root, folder: folder).update(replacing: texts)
    return places
  }

  /// The file that each module with mutants gets beside its own.
  private static let switchFile = """
    import Glibc

    private let active: Int = getenv("\(active)").flatMap { Int(String(cString: $0)) } ?? 0

    nonisolated(unsafe) private let seen: UnsafeMutablePointer<UInt8>? = {
      guard let path = getenv("\(seen)") else { return nil }
      let file = open(path, O_RDWR)
      guard file >= 0 else { return nil }
      let size = Int(lseek(file, 0, SEEK_END))
      let bytes = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
      close(file)
      return bytes?.assumingMemoryBound(to: UInt8.self)
    }()

    func planted(_ number: Int) -> Bool {
      seen?[number] = 1
      return active == number
    }


    """
}
