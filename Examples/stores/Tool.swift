import CommandLineKit
import Foundation

/// The tool from the command line to the exit code.
enum Tool {
  /// Carries out one command line.
  ///
  /// - Returns: 0 when it was done, 1 when it failed, 2 when the command line makes no sense.
  static func run(_ arguments: [String], environment: [String: String]) async -> CInt {
    if arguments.first == Completion.word {
      Output.write(await Completion.answer(Array(arguments.dropFirst()), environment))
      return 0
    }
    do {
      let request = try CommandLineRequest(arguments)
      let output = Output(
        isJSON: request.options.isJSON, colors: request.options.colors, environment: environment)
      do {
        return try await perform(request, environment, output)
      } catch let error as UsageError {
        throw error
      } catch {
        output.endProgress()
        output.problem("stores", words(error))
        return 1
      }
    } catch let error as UsageError {
      let hint = error.topic.map { "stores help \($0)" } ?? "stores --help"
      Output.writeError("stores: \(error.description)\nTry: \(hint)\n")
      return 2
    } catch {
      Output.writeError("stores: \(error)\n")
      return 1
    }
  }

  private static func perform(
    _ request: CommandLineRequest, _ environment: [String: String], _ output: Output
  ) async throws -> CInt {
    switch request.wish {
    case .help(let text):
      let width = output.terminal.width
      Output.write(width.map { FittedText.lines(text, width: $0) } ?? text)
      return 0
    case .action(let action):
      let options = request.options
      let home = try Home(
        options.home, environment: environment, server: ServerAddress(options, environment))
      let code = try await action(
        Invocation(
          home: home, device: options.device ?? "default", account: options.account,
          output: output))
      CrashPoint.pass(environment)
      return code
    }
  }
}

/// Runs `body` until it ends or the person interrupts the program.
func untilInterrupted(_ body: @escaping @Sendable () async throws -> Void) async throws {
  let task = Task { try await body() }
  let sources = [SIGINT, SIGTERM].map { number in
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number)
    source.setEventHandler { task.cancel() }
    source.resume()
    return source
  }
  defer { for source in sources { source.cancel() } }
  do {
    try await task.value
  } catch is CancellationError {
    return
  }
}
