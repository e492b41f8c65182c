package import CommandLineKit
import Foundation

/// One command of the verification tool.
package protocol VerificationCommand: Sendable {
  /// The word that names it on the command line.
  static var name: String { get }

  /// The summary in the tool's help, in one line.
  static var summary: String { get }

  /// Its help: lines of usage after `usage:`, then what the options mean.
  static var usage: String { get }

  /// Runs the command with `arguments`.
  ///
  /// - Returns: Whether no invariant was violated.
  static func run(_ arguments: inout Arguments) async throws -> Bool

  /// Serves a process of the tool as its child, where the words after the name ask for that; `nil`
  /// where they don't, else the exit code.
  static func runChild(_ words: [String]) async throws -> Int32?
}

extension VerificationCommand {
  /// Most commands have no child processes of their own program.
  package static func runChild(_ words: [String]) async -> Int32? { nil }

  /// The options that the lines of usage name.
  package static var options: Arguments.Options {
    let lines = usage.split(separator: "\n", omittingEmptySubsequences: false)
      .prefix { !$0.isEmpty }.map { $0.replacing("usage:", with: "") }
    return Arguments.Options([UsageLine(lines.joined(separator: " ") + " [--help]")])
  }

  /// The words that start the tool again as a child of this command.
  package static func childWords(_ words: [String]) throws -> [String] {
    guard let program = Bundle.main.executablePath else {
      throw ToolError("The tool does not know the path of its own program.")
    }
    return [program, name] + words
  }
}

/// The text of an embedded help file, without the end of its last line.
package func helpText(_ bytes: [UInt8]) -> String {
  String(decoding: bytes.dropLast(), as: UTF8.self)
}

/// Prints a line that is seen at once, also through a pipe.
package func say(_ line: some CustomStringConvertible) {
  FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

extension Arguments {
  /// The value of an option as a number of `range`; `nil` where it is not given.
  package mutating func number<Number: FixedWidthInteger>(
    _ name: String, in range: ClosedRange<Number>
  ) throws(UsageError) -> Number? {
    guard let text = value(name) else { return nil }
    guard let number = Number(text), range.contains(number) else {
      throw UsageError("--\(name) needs a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// The seed that an option gives.
  package mutating func seed(_ name: String) throws(UsageError) -> UInt64? {
    try number(name, in: 0...UInt64(Int64.max))
  }

  /// The value of an option as one of a few words; `nil` where it is not given.
  package mutating func choice<Choice>(
    _ name: String, of type: Choice.Type
  ) throws(UsageError) -> Choice?
  where Choice: RawRepresentable<String> & CaseIterable {
    guard let text = value(name) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("--\(name) needs one of \(names)")
    }
    return choice
  }
}
