package import Foundation

extension Process {
  /// Starts a program without input.
  ///
  /// - Parameters:
  ///   - words: its path, or its name to be found in `PATH`, and its arguments.
  ///   - environment: variables in addition to those of this process.
  ///   - folder: its current folder; `nil` for that of this process.
  package static func start(
    _ words: [String], environment: [String: String] = [:], in folder: String? = nil,
    output: Any = FileHandle.nullDevice, errors: Any = FileHandle.nullDevice
  ) throws -> Process {
    let process = Process()
    let isPath = words[0].contains("/")
    process.executableURL = URL(fileURLWithPath: isPath ? words[0] : "/usr/bin/env")
    process.arguments = isPath ? Array(words.dropFirst()) : words
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    return process
  }

  /// Runs a program without input, and returns what it prints.
  package static func output(
    of words: [String], errors: Any = FileHandle.nullDevice
  ) throws -> String {
    let output = Pipe()
    let process = try start(words, output: output, errors: errors)
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    _ = process.end()
    return String(decoding: data, as: UTF8.self)
  }

  /// Waits for the end; the exit code, or the signal with a minus sign.
  package func end() -> Int32 {
    waitUntilExit()
    return terminationReason == .uncaughtSignal ? -terminationStatus : terminationStatus
  }
}
