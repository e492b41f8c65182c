import CommandLineKit
import Foundation
import Synchronization
import VerificationSupport

/// The benchmarks: prints the cost of operations as ratios.
@main
struct Bench {
  private static let usage = helpText(PackageResources.help_txt)

  /// All benchmarks, in the order of the table.
  private static func benchmarks() -> [Benchmark] {
    RecordBenchmarks.all() + PendingBenchmarks.all() + StateBenchmarks.all()
      + SystemFieldsBenchmarks.all() + EngineBenchmarks.all() + ItemBenchmarks.all()
      + ThroughputBenchmarks.all() + ServerBenchmarks.all() + QueryBenchmarks.all()
      + IndexBenchmarks.all()
      + WebBenchmarks.all() + WaitBenchmarks.all() + ConsoleBenchmarks.all() + PeerBenchmarks.all()
      + ClusterBenchmarks.all()
  }

  static func main() async {
    do {
      let lines = usage.split(separator: "\n").prefix(2).joined(separator: " ")
      var arguments = try Arguments(
        Array(CommandLine.arguments.dropFirst()),
        knowing: Arguments.Options([UsageLine(lines + " [--help]")]))
      if arguments.flag("help") { return print(usage) }
      if arguments.flag("scale") {
        try arguments.end()
        return try await Scale.measure()
      }
      try await run(&arguments)
    } catch let error as UsageError {
      fail("\(error)\n\(usage)", code: 64)
    } catch {
      fail("the measurement stopped: \(error)", code: 1)
    }
  }

  private static func run(_ arguments: inout Arguments) async throws {
    let rounds = try arguments.number("rounds", in: 1...10_000) ?? 7
    let only = arguments.value("only")?.split(separator: ",").map(String.init) ?? []
    let folder = arguments.value("write")
    let (wantsJSON, wantsList) = (arguments.flag("json"), arguments.flag("list"))
    Stopwatch.readsProcessor.store(arguments.flag("processor"), ordering: .relaxed)
    try arguments.end()
    let chosen = benchmarks().filter { benchmark in
      only.isEmpty || only.contains { benchmark.row == $0 || benchmark.question.contains($0) }
    }
    guard !chosen.isEmpty else {
      throw UsageError("no benchmark is \(only.joined(separator: " or "))")
    }
    if wantsList { return print(chosen.map(\.name).joined(separator: "\n")) }
    #if DEBUG
      note("ratios of a debug build mean little; use `make bench`")
    #endif
    let start = ContinuousClock.now
    var report = Report()
    for benchmark in chosen {
      do {
        report.measurements.append(try await benchmark.measure(rounds: rounds))
        if !wantsJSON, let last = report.measurements.last { say(last.line) }
      } catch let absence as Absence {
        if !wantsJSON { say("\(benchmark.name): not measured, \(absence.reason)") }
      }
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    say(wantsJSON ? try report.json : "\(report.summary), \(Int(seconds)) s")
    if let folder { try report.write(to: URL(fileURLWithPath: folder)) }
  }

  /// Prints a line on the standard error.
  static func note(_ text: String) { Output.writeError("cloudsync-bench: \(text)\n") }

  private static func fail(_ text: String, code: Int32) -> Never {
    note(text)
    exit(code)
  }
}

/// Something to measure against is not installed on this machine.
struct Absence: Error {
  var reason: String
}
