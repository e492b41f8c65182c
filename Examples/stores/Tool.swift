import CloudProtocol
import CloudSync
import CommandLineKit
import Foundation

/// Runs a command line of the tool.
enum Tool {
  /// Runs one command line, given without the program's name.
  ///
  /// - Returns: the exit code: 0 for success, or an ``ExitCode``.
  static func run(_ line: [String], environment: [String: String]) async -> CInt {
    if line.first == Completion.word {
      Output.write(await Completion.answer(Array(line.dropFirst()), environment))
      return 0
    }
    if line == ["man"] {
      Output.write(Help.manual)
      return 0
    }
    do {
      let usages = [GlobalOptions.usage] + ToolCommand.all.flatMap(\.usages)
      var arguments = try Arguments(line, knowing: Arguments.Options(usages))
      let options = try GlobalOptions(&arguments)
      let output = Output(
        isJSON: options.isJSON, colors: options.colors, environment: environment)
      if let help = try help(options, &arguments) {
        let width = output.terminal.width
        Output.write(width.map { FittedText.lines(help, width: $0) } ?? help)
        return 0
      }
      let action = try ToolCommand.action(&arguments)
      do {
        let server = try WebAddress(options, environment)
        let home = try Home(options["home"], environment: environment, server: server)
        let code = try await action(
          Invocation(
            home: home, device: options["device"] ?? "default", account: options["account"],
            output: output))
        CrashPoint.passCommand(environment)
        return code
      } catch let error as UsageError {
        throw error
      } catch {
        output.endProgress()
        return Output.fail(
          "stores", words(error), code: exitCode(error), isJSON: output.isJSON,
          name: output.errors.styled("stores:", .red))
      }
    } catch let error as UsageError {
      return Output.fail(
        "stores", error.description, code: ExitCode.usage, isJSON: Output.wantsJSON(line),
        help: error.topic.map { "stores help \($0)" } ?? "stores --help")
    } catch {
      return Output.fail("stores", "\(error)", code: 1, isJSON: Output.wantsJSON(line))
    }
  }

  /// The help that a command line asks for, if it does.
  private static func help(
    _ options: GlobalOptions, _ arguments: inout Arguments
  ) throws(UsageError) -> String? {
    if options.wantsVersion { return "stores \(Output.version)\n" }
    if options.wantsHelp { return try Help.text(arguments.word()) }
    guard let word = arguments.nextWord else { throw UsageError("say what to do") }
    guard word == "help" else { return nil }
    _ = arguments.word()
    let help = try Help.text(arguments.word())
    try arguments.end()
    return help
  }
}
