import Foundation

// A reader that goes away early, such as `head`, is no reason to stop in the middle of a write.
signal(SIGPIPE, SIG_IGN)
exit(
  await Tool.run(
    Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment))
