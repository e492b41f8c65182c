import CommandLineKit
import Foundation

/// The commands of the tool.
enum Command {
  case serve(Serve)
  case detach(arguments: [String], warning: String?)
  case wait(URL, seconds: Int)
  case stop(Address, seconds: Int)
  case exec(Exec)
  case inspect(Inspect)
  case watch(Watch)
  case faults(Faults)
  case applyFaults(path: String, Address)
  case archives(Archives)
  case keys(Keys)
  case issueToken(account: String, Address)
  case showState(path: String, member: String?, limit: Int)
  case compareStates(old: String, new: String, member: String?)
  case showTrace(path: String)
  case completion(script: String)
  case help(topic: String?)
  case version
  case manual

  /// Runs the command.
  ///
  /// - Returns: The exit code.
  func run(_ output: Output) async throws -> CInt {
    switch self {
    case .serve(let serve): return try await serve.run(output)
    case .detach(let arguments, let warning):
      return try await Detached.start(arguments, warning: warning, output)
    case .wait(let url, let seconds): try await Detached.wait(for: url, seconds: seconds)
    case .stop(let address, let seconds): try await Detached.stop(address, seconds: seconds, output)
    case .exec(let exec): return try await exec.run(output)
    case .inspect(let inspect): return try await inspect.run(output)
    case .watch(let watch): try await watch.run(output)
    case .faults(let faults): return try await faults.run(output)
    case .applyFaults(let path, let address):
      return try await Faults.apply(FaultProfile(path), to: address, output)
    case .archives(let archives): return try await archives.run(output)
    case .keys(let keys): return try await keys.run(output)
    case .issueToken(let account, let address):
      try await WebToken.issue(to: account, by: address, output)
    case .showState(let path, let member, let limit):
      return try States.show(path, member: member, limit: limit, output)
    case .compareStates(let old, let new, let member):
      return try States.diff(old, new, member: member, output)
    case .showTrace(let path): return try Traces.show(path, output)
    case .completion(let script): Output.write(script)
    case .help(let topic): Output.write(try Help.text(topic))
    case .version: Output.write("cloudsync \(Output.version)\n")
    case .manual: Output.write(Help.manual)
    }
    return 0
  }
}
