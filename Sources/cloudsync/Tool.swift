import CloudProtocol
import CommandLineKit
import Foundation
import LoopbackServer

/// The entry point of the tool.
enum Tool {
  /// The version that `--version` prints.
  static let version = "0.1.0"

  /// The exit code of an invalid command line: EX_USAGE of sysexits.
  static let usageCode: CInt = 64

  /// Runs a command line.
  ///
  /// - Returns: 0 on success, 1 on failure, 64 for an invalid command line; `exec` and `state diff`
  ///   have other codes.
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

  /// A failure with a specific exit code.
  struct Failure: Error {
    var code: CInt
    var description: String
  }
}

/// The message of an error.
func words(_ error: any Error) -> String {
  switch error {
  case let error as CloudError: error.message
  case let error as ServerFileError: error.message
  default: "\(error)"
  }
}
