import Foundation

/// One process, run to its end.
enum Run {
  /// What became of it.
  struct Outcome: Sendable {
    /// Its exit status; negative for the signal that ended it.
    var status: Int32
    /// What it printed.
    var output: String
    /// Whether it was ended because it took too long.
    var tookTooLong = false
  }

  /// Runs `arguments`, the first of which names the program, for at most so long.
  static func wait(
    for arguments: [String], environment: [String: String] = [:], seconds: Int
  ) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let end = DispatchWorkItem { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds), execute: end)
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    end.cancel()
    let isSignal = process.terminationReason == .uncaughtSignal
    return Outcome(
      status: isSignal ? -process.terminationStatus : process.terminationStatus,
      output: String(decoding: data, as: UTF8.self),
      tookTooLong: isSignal && process.terminationStatus == SIGKILL)
  }
}

/// What a programme made of a fault.
struct Verdict: Sendable {
  /// How it ended.
  enum End: Sendable {
    /// A promise did not hold in the last world.
    case violation(String)
    /// The last world ended the process.
    case trap(signal: Int32)
    /// Every promise held in all worlds.
    case nothing
    /// There was no time for more worlds.
    case tooLong
    /// The programme could not be run.
    case failure(String)
  }

  var programme: Programme
  var end: End
  /// How many worlds were run, the last one included unless it was cut off.
  var seeds: Int

  /// Whether the fault was found.
  var isFound: Bool {
    switch end {
    case .violation, .trap: true
    case .nothing, .tooLong, .failure: false
    }
  }

  /// Whether worlds were run and every promise held in them, as it has to be without a fault.
  var isHealthy: Bool {
    switch end {
    case .nothing, .tooLong: seeds > 0
    case .violation, .trap, .failure: false
    }
  }

  /// Reads what a simulator printed.
  init(_ programme: Programme, _ outcome: Run.Outcome) {
    self.programme = programme
    let lines = outcome.output.split(separator: "\n")
    seeds = lines.count { $0.hasPrefix("world ") }
    let words = lines.filter { !$0.hasPrefix("world ") }
    if outcome.tookTooLong {
      seeds = max(0, seeds - 1)
      end = .tooLong
    } else if outcome.status < 0 {
      end = .trap(signal: -outcome.status)
    } else if outcome.status == 1, let message = words.first {
      end = .violation(String(message))
    } else if outcome.status == 0 {
      end = .nothing
    } else {
      end = .failure(words.joined(separator: " "))
    }
  }
}
