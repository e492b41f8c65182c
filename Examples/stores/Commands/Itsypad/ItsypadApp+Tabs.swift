import ClipboardStore
import CommandLineKit
import Foundation
import SyncSupport
import TabStore

extension ItsypadApp {
  /// The tab whose ID starts with `id`.
  func tab(_ id: String) throws -> ScratchTab {
    let id = try find(id, in: tabs.tabs.map(\.id), "tab")
    guard let tab = tabs.tab(id) else { throw ToolError("the tab \(id) is gone") }
    return tab
  }

  /// Changes the tab whose ID starts with `id`.
  func change(_ id: String, _ output: Output, _ edit: (inout ScratchTab) -> Void) throws {
    let id = try tab(id).id
    guard let tab = try tabs.edit(id, now: Date(), edit) else {
      throw ToolError("the tab \(id) is gone")
    }
    try output.result(
      Row(tab, unsent: tabs.isUnsent(id)).document, "changed \(id) \(printable(tab.name))")
  }

  /// Opens tabs for the files of a folder, or moves in an older app's export.
  func importTabs(_ path: String, _ output: Output) throws {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw ToolError(
        "there is no folder or file \(quoted(path))", code: ExitCode.noInput)
    }
    guard isFolder.boolValue else {
      try migrate(path, output)
      return
    }
    let folder = URL(fileURLWithPath: path, isDirectory: true)
    let bar = output.progressBar()
    defer { bar?.end() }
    let found = try TextFiles(in: folder) {
      bar?.show(ProgressLine("reading", "file", done: $0, of: $1))
    }
    let report = try tabs.takeOver(found.files, now: Date()) {
      bar?.show(ProgressLine("taking over", "file", done: $0, of: $1))
    }
    bar?.end()
    let document: Document = [
      "added": report.added, "changed": report.changed, "unchanged": report.unchanged,
      "skipped": found.skipped,
    ]
    try output.result(
      document,
      "\(count(report.added, "tab")) opened, \(report.changed) changed, "
        + "\(report.unchanged) as before"
        + (found.skipped.isEmpty ? "" : "; \(count(found.skipped.count, "file")) left out"))
    for skipped in found.skipped { output.note("left out \(quoted(skipped.name)): \(skipped.why)") }
  }

  private func migrate(_ path: String, _ output: Output) throws {
    let export = try KeyValueExport(try readData(path))
    let (tabs, clipboard) = (try tabs.migrate(export), try clipboard.migrate(export))
    let document: Document = [
      "tabs": tabs, "clipboard": clipboard, "unreadable": export.unreadable,
    ]
    try output.result(
      document,
      tabs.wasDoneBefore
        ? "moved in before; nothing was changed"
        : "\(count(tabs.added, "tab")) and "
          + "\(count(clipboard.added, "clipboard entry")) moved in, "
          + "\(tabs.updated) updated, "
          + "\(tabs.removed + clipboard.removed) removed by tombstones, "
          + "\(export.unreadable) unreadable")
  }
}
