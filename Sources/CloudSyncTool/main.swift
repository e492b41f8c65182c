import CommandLineKit
import Foundation

// A reader that closes early, such as `head`, ends the program when it prints, never while it
// writes a file.
signal(SIGPIPE, SIG_IGN)
Output.openStandardDescriptors()
ProxyBypass.set()
Output.end(
  await Tool.run(
    Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment))
