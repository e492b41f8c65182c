import CloudSync
import Records
import SyncMachine

/// Gets the state out of a state log, as an engine does when it opens it.
struct LogReading {
  let bytes: [UInt8]
  let name: String

  private var shown: String { TerminalText.line(name) }

  func inspection() throws(StateInspectionError) -> StateInspection {
    let reading = LogFormat.read(bytes, path: name)
    if reading.fault?.code == .future {
      throw StateInspectionError(
        .future,
        "The state log \(shown) has a format that is newer than \(LogFormat.version), which this "
          + "version reads. Use a newer version of this tool.")
    }
    guard !reading.contents.snapshot.isEmpty else {
      throw damaged("has no whole snapshot", readable: StateRecovery(bytes, name: name).any)
    }
    var log = StateInspection.Log()
    log.snapshotBytes = reading.contents.snapshot.count
    var state = try snapshot(reading.contents.snapshot)
    log.snapshotFormat = Int(state.format)
    for entry in reading.contents.entries {
      do throws(ByteFormatError) {
        let steps = try StateChange.decoded(entry)
        for step in steps { state.apply(step) }
        log.stepCount += steps.count
        log.entryCount += 1
      } catch {
        // The bytes are those that were written, so the writer knew more than this reader.
        let number = TerminalText.number(log.entryCount + 1)
        throw damaged(
          "has an entry that this version can't read, number \(number) behind the snapshot "
            + "(\(error)); a newer version may have written it",
          readable: inspection(state, log))
      }
    }
    let rest = bytes.count - reading.length
    if reading.fault != nil {
      throw damaged(
        "is damaged at byte \(reading.length), and \(TerminalText.number(rest)) bytes from "
          + "there on can't be used",
        readable: inspection(state, log))
    }
    log.unfinishedBytes = rest
    return inspection(state, log)
  }

  private func snapshot(_ bytes: [UInt8]) throws(StateInspectionError) -> SyncState {
    do throws(StateFormatError) {
      return try SyncState(decoding: bytes)
    } catch {
      switch error {
      case .future(let version):
        throw StateInspectionError(
          .future,
          "The snapshot in the state log \(shown) has format \(version), this version reads "
            + "\(SyncState.formatVersion). Use a newer version of this tool.")
      case .foreign:
        throw StateInspectionError(
          .foreign,
          "The log \(shown) does not contain the state of a sync engine. Give another "
            + "file."
        )
      case .damaged(let fault):
        throw damaged(
          "has a damaged snapshot: \(fault)", readable: StateRecovery(self.bytes, name: name).any)
      }
    }
  }

  private func inspection(_ state: SyncState, _ log: StateInspection.Log) -> StateInspection {
    StateInspection(
      name: name, byteCount: bytes.count, form: .log(log), state: state,
      stateFormat: log.snapshotFormat)
  }

  private func damaged(_ what: String, readable: StateInspection?) -> StateInspectionError {
    StateInspectionError(
      .damaged,
      "The state log \(shown) \(what). \(StateRecovery.summary(of: readable)) Restore it from a "
        + "backup, or move it away to start over.",
      readable: readable)
  }
}
