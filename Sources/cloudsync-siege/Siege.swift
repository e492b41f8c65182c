import Foundation

/// Besieges a server and says whether it stood.
@main
struct Siege {
  static func main() async {
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      let stood: Bool
      switch options.programme {
      case nil:
        print(Options.usage)
        stood = true
      case .server:
        try await ServerRole.run(path: options.path)
        stood = true
      case .hostile: stood = try HostileSiege(options).run()
      case .slow: stood = try SlowSiege(options).run()
      }
      exit(stood ? 0 : 1)
    } catch let error as UsageError {
      complain(error, status: 2)
    } catch {
      complain(error, status: 1)
    }
  }

  private static func complain(_ error: any Error, status: Int32) -> Never {
    FileHandle.standardError.write(Data("cloudsync-siege: \(error)\n".utf8))
    exit(status)
  }
}
