import CommandLineKit
import Foundation
import Synchronization

/// Prints what things cost.
@main
struct Bench {
  /// All benchmarks, in the order of the table; a new area adds its `all()` here.
  static func benchmarks() throws -> [Benchmark] {
    RecordBenchmarks.all() + PendingBenchmarks.all() + StateBenchmarks.all()
      + SystemFieldsBenchmarks.all() + EngineBenchmarks.all()
      + ThroughputBenchmarks.all() + ServerBenchmarks.all() + QueryBenchmarks.all()
      + WebBenchmarks.all() + PeerBenchmarks.all()
  }

  static func main() async {
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      if options.wantsHelp {
        print(Options.usage)
      } else if options.wantsScale {
        show(Scale.header)
        try await Scale.measure(show)
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
    let chosen = try benchmarks().filter(options.chooses)
    guard !chosen.isEmpty else {
      throw UsageError("no benchmark is \(options.only.joined(separator: " or "))")
    }
    if options.wantsList {
      print(chosen.map(\.name).joined(separator: "\n"))
      return
    }
    #if DEBUG
      note("a debug build: the ratios mean little; use `make bench`")
    #endif
    Stopwatch.readsProcessor.store(options.timesProcessor, ordering: .relaxed)
    let start = ContinuousClock.now
    if !options.wantsJSON { show(Report.header) }
    var measurements: [Measurement] = []
    for benchmark in chosen {
      let measurement: Measurement
      do { measurement = try await benchmark.measure(rounds: options.rounds) } catch let
        absence as Absence
      {
        if !options.wantsJSON { show("\(benchmark.name): not measured, \(absence.reason)") }
        continue
      }
      measurements.append(measurement)
      if !options.wantsJSON { show(Report.line(measurement)) }
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    show(
      options.wantsJSON
        ? try Report.json(measurements) : Report.summary(measurements, seconds: seconds))
    guard let folder = options.folder else { return }
    let url = URL(fileURLWithPath: folder)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try Data(try Report.json(measurements).utf8).write(to: url.appendingPathComponent("bench.json"))
    try Data(Plot.svg(measurements).utf8).write(to: url.appendingPathComponent("bench.svg"))
  }

  /// Prints a line at once, also into a pipe.
  private static func show(_ text: String) {
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
  }

  private static func note(_ text: String) {
    FileHandle.standardError.write(Data("cloudsync-bench: \(text)\n".utf8))
  }

  private static func fail(_ text: String, code: Int32) -> Never {
    note(text)
    exit(code)
  }
}

/// Something to measure against is not on this machine.
struct Absence: Error {
  /// What is missing.
  var reason: String
}
