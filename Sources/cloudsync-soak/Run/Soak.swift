import Foundation

/// Lets devices write to a server that is killed again and again, and says what was found.
@main
struct Soak {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "server", arguments.count == 3, let port = Int(arguments[1]) {
      exit(await ServerProgram.run(port: port, path: arguments[2]))
    }
    do {
      let options = try Options(arguments)
      if options.wantsHelp {
        print(Options.usage)
        return
      }
      let run = try Run(options)
      let isGood = try await run.run()
      exit(isGood ? 0 : 1)
    } catch let error as UsageError {
      FileHandle.standardError.write(Data("cloudsync-soak: \(error)\n".utf8))
      exit(2)
    } catch {
      FileHandle.standardError.write(Data("cloudsync-soak: \(error)\n".utf8))
      exit(1)
    }
  }
}
