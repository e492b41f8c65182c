import CloudProtocol
import CommandLineKit
import Foundation
import LoopbackServer

/// The entry point of the tool.
enum Tool {
  /// Runs a command line.
  ///
  /// - Returns: 0 on success, 1 on failure, 64 for an invalid command line; `exec` and `state diff`
  ///   have other codes.
  static func run(_ arguments: [String], environment: [String: String]) async -> CInt {
    if arguments.first == Completion.word {
      Output.write(Completion.answer(Array(arguments.dropFirst())))
      return 0
    }
    let wantsJSON = Output.wantsJSON(arguments)
    do throws(UsageError) {
      let (command, isJSON) = try Command.parse(arguments, environment)
      let output = Output(isJSON: isJSON)
      do {
        return try await command.run(output)
      } catch let error as UsageError {
        return refuse(error, wantsJSON)
      } catch {
        output.endProgress()
        return Output.fail(
          "cloudsync", words(error), code: (error as? Failure)?.code ?? 1, isJSON: wantsJSON)
      }
    } catch {
      return refuse(error, wantsJSON)
    }
  }

  private static func refuse(_ error: UsageError, _ isJSON: Bool) -> CInt {
    Output.fail(
      "cloudsync", error.description, code: UsageError.exitCode, isJSON: isJSON,
      help: error.topic.map { "cloudsync help \($0)" } ?? "cloudsync help")
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
  case let error as Tool.Failure: error.description
  default: "\(error)"
  }
}
