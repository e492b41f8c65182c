import CommandLineKit
import Foundation

extension ToolCommand {
  /// Forgets everything.
  static let reset = ToolCommand(
    "reset", summary: "forget the server and all devices of the home folder",
    help: """
      Usage: stores reset [--force]

      Removes the server and all devices of the home folder. Asks on a terminal; elsewhere it
      needs --force. What a server by HTTP holds stays there.

      """,
    usages: ["[--force]"]
  ) { arguments in
    let isForced = arguments.flag("force")
    return { invocation in
      try await invocation.home.reset(isForced: isForced, invocation.output)
      return 0
    }
  }
}

extension Home {
  /// Removes everything the tool made here; asks on a terminal, else wants to be forced.
  func reset(isForced: Bool, _ output: Output) async throws {
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
    // Waits for every command that uses the home, and keeps new ones out meanwhile.
    let lock = try await FileLock(item("lock").path, .exclusive, what: "the home folder")
    defer { withExtendedLifetime(lock) {} }
    for name in names {
      do {
        try FileManager.default.removeItem(at: item(name))
      } catch CocoaError.fileNoSuchFile {
        continue
      } catch {
        throw ToolError("cannot remove \(item(name).path): \(error.localizedDescription)")
      }
    }
    try output.result(
      ["removed": names], "removed the server and all devices")
  }
}
