import SyncMachine

/// The state machine as a page, printed from the table that the machine asserts.
extension Stage {
  /// The text of `Docs/StateMachine.md`.
  static var markdown: String {
    var lines = [
      "# The state machine of the sync engine", "",
      "Printed from `Stage.exits`, the table the machine asserts and the simulator checks; a test",
      "fails when this page is stale. `RECORD_DOCS=1 swift test --filter SyncMachineTests` prints",
      "it anew.", "", "```mermaid", "stateDiagram-v2", "  [*] --> created",
    ]
    for stage in allCases {
      for exit in stage.exits where exit.to != .stopped {
        lines.append("  \(stage.rawValue) --> \(exit.to.rawValue)")
      }
    }
    lines += ["```", "", "Every stage also moves to `stopped` when the engine is gone.", ""]
    lines += ["| from | to | cause |", "|---|---|---|"]
    for stage in allCases {
      for exit in stage.exits where exit.to != .stopped {
        lines.append("| \(stage.rawValue) | \(exit.to.rawValue) | \(exit.cause) |")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
