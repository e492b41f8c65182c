import CommandLineKit
import Foundation

extension ToolCommand {
  static let reset = ToolCommand(
    "reset",
    Verb("[--force]") { arguments in
      let isForced = arguments.flag("force")
      return { invocation in
        try await invocation.home.reset(isForced: isForced, invocation.output)
        return 0
      }
    })
}

extension Home {
  /// Removes all files of the tool; without `isForced` it asks on a terminal.
  fileprivate func reset(isForced: Bool, _ output: Output) async throws {
    let names = existingContent
    guard !names.isEmpty else {
      try output.result(["removed": [String]()], "there is nothing to remove in \(url.path)")
      return
    }
    if !isForced {
      guard isatty(STDIN_FILENO) == 1 else {
        throw ToolError("reset removes the server and all devices in \(url.path); add --force")
      }
      output.note("Remove the server and all devices in \(url.path)? Type yes:")
      guard readLine()?.lowercased() == "yes" else {
        throw ToolError("nothing was removed")
      }
    }
    // Waits for all commands that use the home, and blocks new ones.
    let lock = try await Self.lock(item("lock"), .exclusive, what: "the home folder")
    defer { withExtendedLifetime(lock) {} }
    for name in names { try removeFile(item(name)) }
    try output.result(
      ["removed": names], "removed the server and all devices")
  }
}
