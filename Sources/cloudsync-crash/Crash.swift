import CommandLineKit
import Foundation

/// Cuts the power, damages bytes and kills processes, and says what was found.
@main
struct Crash {
  static func main() async {
    // A line is seen when it is written, also through a pipe.
    setvbuf(stdout, nil, _IOLBF, 0)
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "child" { exit(await Child.run(Array(arguments.dropFirst()))) }
    do {
      let options = try Options(arguments)
      if options.wantsHelp {
        print(Options.usage)
        return
      }
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
