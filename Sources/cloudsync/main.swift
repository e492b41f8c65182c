import Foundation

// A reader that goes away early, such as `head`, ends the program where it prints, and never the
// server behind it.
signal(SIGPIPE, SIG_IGN)
ProxyBypass.set()
exit(
  await Tool.run(
    Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment))
