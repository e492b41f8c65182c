package import CloudMachine
import Records

extension StorageSample {
  /// Checks against storage in memory, and of storages that share their data.
  static let sharingChecks: [StorageCheck] =
    (1...8).map(sameAsMemory) + (21...24).map(sameWhenReopened) + (41...44).map(sameInTurn)
    + visibilityChecks

  private static func sameAsMemory(_ seed: UInt64) -> StorageCheck {
    StorageCheck("any changes leave the same rows as in memory, seed \(seed)", .one, same) {
      trial in
      try differences(seed: seed) { memory in
        [memory, trial.storage]
      } read: { _ in
        [trial.storage]
      }
    }
  }

  private static func sameWhenReopened(_ seed: UInt64) -> StorageCheck {
    StorageCheck(
      "changes are the same when the data are opened again, seed \(seed)", .reopening, same
    ) { trial in
      try differences(seed: seed) { memory in
        [memory, trial.storage]
      } read: { step in
        if step.isMultiple(of: 10) { try trial.reopen() }
        return [trial.storage]
      }
    }
  }

  private static func sameInTurn(_ seed: UInt64) -> StorageCheck {
    StorageCheck(
      "two storages that change the same data in turn see the same rows, seed \(seed)", .sharing,
      same
    ) { trial in
      let both = [trial.storage, try trial.openAnother()]
      var turns = StorageRandom(seed: seed)
      return try differences(seed: seed) { memory in
        [memory, turns.pick(both)]
      } read: { _ in
        both
      }
    }
  }

  private static let visibilityChecks: [StorageCheck] = [
    StorageCheck("a transaction is visible to another storage when it ends", .sharing, "a|a|a b") {
      trial in
      let (first, second) = (trial.storage, try trial.openAnother())
      try first.put(row("a", 1))
      let before = try changes(second)
      let inside = try repeating(first) {
        try first.put(row("b", 2))
        // The changes are sent by now, if the storage keeps them until a read.
        _ = try first.recordCount(of: zoneA, in: alice, upTo: 9)
        return try changes(second)
      }
      return try "\(before)|\(inside)|\(changes(second))"
    },
    StorageCheck("the data's version changes with a change by another storage", .sharing, "true") {
      trial in
      let (first, second) = (trial.storage, try trial.openAnother())
      let before = try second.dataVersion()
      try first.put(row("a", 1))
      let after = try second.dataVersion()
      return "\(before != nil && after != before)"
    },
  ]

  /// The result of a comparison without a difference.
  package static let same = "the same"

  /// Gives random changes to a storage in memory and to another one, and compares what is read.
  ///
  /// - Parameters:
  ///   - changed: the storages that get the changes of a step, one of them in memory.
  ///   - read: the storages that are compared with the one in memory after a step.
  package static func differences(
    seed: UInt64, steps: Int = 30, changed: (MemoryStorage) -> [any CloudStorage],
    read: (Int) throws -> [any CloudStorage]
  ) throws -> String {
    var random = StorageRandom(seed: seed)
    let memory = MemoryStorage(identity: 1)
    let names = (1...6).map { "n\($0)" }
    var sequence: UInt64 = 0
    for step in 1...steps {
      try change(changed(memory), &random, names: names, &sequence)
      let expected = try rows(of: memory, names: names)
      for storage in try read(step) {
        let found = try rows(of: storage, names: names)
        guard found == expected else {
          let line = zip(found, expected).first { $0 != $1 }
          return "step \(step): \(line.map { "\($0) instead of \($1)" } ?? "lines are missing")"
        }
      }
    }
    return same
  }
}
