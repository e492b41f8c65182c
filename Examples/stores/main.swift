import CommandLineKit
import Foundation

// A reader that goes away early, such as `head`, ends the program where it prints, never in the
// middle of writing a file.
signal(SIGPIPE, SIG_IGN)
ProxyBypass.set()
Output.end(
  await Tool.run(
    Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment))
