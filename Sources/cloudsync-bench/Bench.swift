import CommandLineKit
import Foundation

/// Prints what things cost.
@main
struct Bench {
  /// All benchmarks, in the order of the table; a new area adds its `all()` here.
  static func benchmarks() throws -> [Benchmark] {
    RecordBenchmarks.all() + PendingBenchmarks.all() + StateBenchmarks.all()
      + EngineBenchmarks.all()
      + WebBenchmarks.all()
  }

  static func main() async {
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      if options.wantsHelp {
        print(Options.usage)
      } else {
        try await run(options)
      }
    } catch let error as UsageError {
      fail("\(error)\n\(Options.usage)", code: 64)
    } catch {
      fail("the measurement stopped: \(error)", code: 1)
    }
  }

  private static func run(_ options: Options) async throws {
    let chosen = try benchmarks().filter { options.only.map($0.name.contains) ?? true }
    guard !chosen.isEmpty else {
      throw UsageError("no benchmark has \(options.only ?? "") in its name")
    }
    if options.wantsList {
      print(chosen.map(\.name).joined(separator: "\n"))
      return
    }
    #if DEBUG
      note("a debug build: the ratios mean little; use `make bench`")
    #endif
    var measurements: [Measurement] = []
    for benchmark in chosen {
      measurements.append(try await benchmark.measure(rounds: options.rounds))
    }
    print(options.wantsJSON ? try Report.json(measurements) : Report.table(measurements))
  }

  private static func note(_ text: String) {
    FileHandle.standardError.write(Data("cloudsync-bench: \(text)\n".utf8))
  }

  private static func fail(_ text: String, code: Int32) -> Never {
    note(text)
    exit(code)
  }
}
