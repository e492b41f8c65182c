import CloudProtocol
import CommandLineKit
import Foundation
import LoopbackServer

/// The tool from the command line to the exit code.
enum Tool {
  /// The version that `--version` prints.
  static let version = "0.1.0"

  /// The exit code of a command line that makes no sense: EX_USAGE of sysexits.
  static let usageCode: CInt = 64

  /// Carries out one command line.
  ///
  /// - Returns: 0 when it was done, 1 when it failed, 64 when the command line makes no sense;
  ///   `exec` and `state diff` have codes of their own.
  static func run(_ arguments: [String], environment: [String: String]) async -> CInt {
    do throws(UsageError) {
      let (command, isJSON) = try Command.parse(arguments, environment)
      let output = Output(isJSON: isJSON)
      do {
        return try await command.run(output)
      } catch let error as UsageError {
        return refuse(error)
      } catch let failure as Failure {
        output.note("cloudsync: \(failure.description)")
        return failure.code
      } catch {
        output.endProgress()
        output.note("cloudsync: \(words(error))")
        return 1
      }
    } catch {
      return refuse(error)
    }
  }

  private static func refuse(_ error: UsageError) -> CInt {
    let hint = error.topic.map { "cloudsync help \($0)" } ?? "cloudsync help"
    Output.writeError("cloudsync: \(error.description)\nTry: \(hint)\n")
    return usageCode
  }

  /// A failure with an exit code of its own.
  struct Failure: Error {
    var code: CInt
    var description: String
  }
}

/// What went wrong, in words for people.
func words(_ error: any Error) -> String {
  switch error {
  case let error as CloudError: error.message
  case let error as ServerFileError: error.message
  default: "\(error)"
  }
}
