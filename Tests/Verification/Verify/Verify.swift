import CommandLineKit
import Crash
import Differential
import Foundation
import Mutants
import Planted
import Siege
import Simulate
import Soak
import Stores
import VerificationSupport

/// The verification tool: runs one of its commands.
@main
struct Verify {
  private static let commands: [any VerificationCommand.Type] = [
    simulateCommand, storesCommand, differentialCommand, crashCommand,
    soakCommand, siegeCommand, plantedCommand, mutantsCommand, ProgramCommand.self,
  ]

  private static var usage: String {
    let width = commands.map { $0.name.count }.max() ?? 0
    let lines = commands.map { command in
      let name = command.name.padding(toLength: width, withPad: " ", startingAt: 0)
      return "  \(name)  \(command.summary)"
    }
    return """
      usage: cloudsync-verify COMMAND [OPTION...] [--write FILE]
             cloudsync-verify COMMAND --help

      \(lines.joined(separator: "\n"))

      --write adds the figures to a JSON file and to the table of the page beside it.
      Exit code: 0 without a violation, 1 with one, 2 for a wrong command line.
      """
  }

  static func main() async {
    var words = Array(CommandLine.arguments.dropFirst())
    var log: String?
    if let option = words.firstIndex(of: "--write"), option + 1 < words.count {
      log = words[option + 1]
      words.removeSubrange(option...option + 1)
    }
    if words.isEmpty || words == ["--help"] || words == ["-h"] || words == ["help"] {
      return say(usage)
    }
    guard let command = commands.first(where: { $0.name == words[0] }) else {
      end("there is no command \(printable(words[0])); see --help", of: nil, status: 2)
    }
    let rest = Array(words.dropFirst())
    do {
      if let status = try await command.runChild(rest) { exit(status) }
      var arguments = try Arguments(rest, knowing: command.options)
      if arguments.flag("help") { return say(command.usage) }
      let start = ContinuousClock.now
      let holds = try await command.run(&arguments)
      if let log {
        try RunLog.add(
          words.joined(separator: " "), holds: holds, took: start.duration(to: .now),
          to: URL(fileURLWithPath: log))
      }
      exit(holds ? 0 : 1)
    } catch let error as UsageError {
      end("\(error)", of: command, status: 2)
    } catch {
      end("\(error)", of: command, status: 1)
    }
  }

  private static func end(
    _ message: String, of command: (any VerificationCommand.Type)?, status: Int32
  ) -> Never {
    let name = command.map { " " + $0.name } ?? ""
    FileHandle.standardError.write(Data("cloudsync-verify\(name): \(message)\n".utf8))
    exit(status)
  }
}
