import CloudProtocol
import CommandLineKit
import Foundation
import LoopbackServer

/// The entry point of the tool.
enum Tool {
  /// Runs a command line.
  ///
  /// - Returns: 0 on success, or an ``ExitCode``; `exec` and `state diff` have other codes.
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
          "cloudsync", words(error), code: exitCode(error), isJSON: wantsJSON,
          name: output.errors.styled("cloudsync:", .red))
      }
    } catch {
      return refuse(error, wantsJSON)
    }
  }

  private static func refuse(_ error: UsageError, _ isJSON: Bool) -> CInt {
    Output.fail(
      "cloudsync", error.description, code: error.code, isJSON: isJSON,
      help: error.code == ExitCode.usage
        ? error.topic.map { "cloudsync help \($0)" } ?? "cloudsync help" : nil)
  }
}

/// The exit code for an error.
func exitCode(_ error: any Error) -> CInt {
  switch error {
  case let error as ToolError: error.code
  case let error as ServerFileError: error.exitCode
  case let error as CloudError where error.code == .unknownItem: ExitCode.unknownName
  default: ExitCode.failure
  }
}

extension ServerFileError {
  fileprivate var exitCode: CInt {
    switch code {
    case .cannotOpen: ExitCode.noInput
    case .notADatabase, .foreign, .newer, .damaged: ExitCode.data
    case .readOnly, .full: ExitCode.cannotCreate
    case .busy, .failed: ExitCode.failure
    }
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
