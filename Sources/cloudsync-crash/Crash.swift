import CommandLineKit
import Foundation
import SQLite

/// Cuts the power, damages bytes and kills processes, and says what was found.
@main
struct Crash {
  static func main() async {
    SQLiteLibrary.countNoMemory()
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "child" { exit(await Child.run(Array(arguments.dropFirst()))) }
    do {
      let options = try Options(arguments)
      if options.wantsHelp {
        print(Options.usage)
        return
      }
      if options.endsAtViolation { exit(await Programme.runUntilViolation(options) ? 0 : 1) }
      var isGood = true
      for programme in options.programmes {
        isGood = await programme.run(options) && isGood
      }
      exit(isGood ? 0 : 1)
    } catch {
      FileHandle.standardError.write(Data("cloudsync-crash: \(error)\n".utf8))
      exit(2)
    }
  }
}

/// Prints a line that is seen at once, also through a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
