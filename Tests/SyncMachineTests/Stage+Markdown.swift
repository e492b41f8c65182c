import SyncMachine

/// The state machine as a page, printed from the table that the machine asserts.
extension Stage {
  /// The text of `Docs/StateMachine.md`.
  static var markdown: String {
    var lines = [
      "# The state machine of the sync engine", "",
      "Printed from `Stage.exits`, the table that the machine asserts and the simulator checks. A",
      "test fails when this page is not up to date;",
      "`CLOUDSYNC_RECORD=1 swift test --filter stateMachinePageMatchesTable` writes it.", "",
      "```mermaid", "stateDiagram-v2", "  [*] --> created",
    ]
    for stage in allCases {
      var shown: Set<Stage> = [.stopped]
      for exit in stage.exits where shown.insert(exit.to).inserted {
        lines.append("  \(stage.rawValue) --> \(exit.to.rawValue)")
      }
    }
    lines += ["```", "", "Every stage also moves to `stopped` when the engine is deallocated.", ""]
    lines += ["| from | to | cause |", "|---|---|---|"]
    for stage in allCases {
      for exit in stage.exits where exit.to != .stopped {
        lines.append("| \(stage.rawValue) | \(exit.to.rawValue) | \(exit.cause) |")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
