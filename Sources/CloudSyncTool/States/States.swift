import CloudSync
import CommandLineKit
import StateInspection

/// `state`: shows the saved state of an engine, and compares two.
enum States {
  /// Prints the state in a file, including the readable part of a damaged one.
  static func show(
    _ path: String, member: String?, limit: Int, _ output: Output
  ) throws -> CInt {
    do throws(StateInspectionError) {
      let inspection = try StateInspection(path: path, member: member)
      write(inspection, limit, output)
      return 0
    } catch {
      if let readable = error.readable {
        output.note("cloudsync: \(error.words)")
        write(readable, limit, output)
        return error.exitCode
      }
      throw ToolError(error.words, code: error.exitCode)
    }
  }

  private static func write(_ inspection: StateInspection, _ limit: Int, _ output: Output) {
    let text = output.isJSON ? inspection.json : inspection.text(limit: limit)
    Output.write(text.hasSuffix("\n") ? text : text + "\n")
  }

  /// Prints the differences of two states.
  ///
  /// - Returns: 0 if they are equal, 1 if they differ, 2 if one cannot be read.
  static func diff(
    _ old: String, _ new: String, member: String?, _ output: Output
  ) throws -> CInt {
    let differences: [StateDifference]
    do throws(StateInspectionError) {
      differences = StateInspection.diff(
        try StateInspection(path: old, member: member),
        try StateInspection(path: new, member: member))
    } catch {
      throw ToolError(error.words, code: 2)
    }
    if output.isJSON {
      let text = StateDifference.json(differences)
      Output.write(text.hasSuffix("\n") ? text : text + "\n")
    } else {
      Output.write(differences.map { $0.description + "\n" }.joined())
    }
    return differences.isEmpty ? 0 : 1
  }
}

extension StateInspectionError {
  /// The exit code of `state show`.
  fileprivate var exitCode: CInt {
    switch code {
    case .unreadable: ExitCode.noInput
    case .foreign, .future, .damaged: ExitCode.data
    case .ambiguous: ExitCode.usage
    }
  }

  /// The message as it stands behind the name of the tool; a path keeps its first letter.
  fileprivate var words: String {
    let isSentence = ["There ", "The ", "Could "].contains { message.hasPrefix($0) }
    return isSentence ? message.prefix(1).lowercased() + message.dropFirst() : message
  }
}
