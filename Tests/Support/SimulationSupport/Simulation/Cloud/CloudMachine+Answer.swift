package import CloudMachine
package import CloudProtocol
package import Records

extension CloudMachine {
  /// Answers `call` in one transaction, including all slices of a query.
  package func answer(
    _ call: CloudCall, from caller: Caller, now: Timestamp, in storage: any CloudStorage
  ) throws -> CloudAnswer {
    try storage.transaction {
      switch try begin(call, from: caller, now: now, in: storage) {
      case .answered(let answer): return answer
      case .querying(var scan):
        while true {
          scan.examine()
          if let result = scan.result { return CloudAnswer(result: result) }
          try scan.read(from: storage)
        }
      }
    }
  }
}
