import Records
import SyncMachine

/// Tells what bytes are, and gets the state out of them.
struct StateReading {
  static let stateMagic = Array("CSYNC".utf8)
  private static let logMagic = Array("CSLOG".utf8)

  let bytes: [UInt8]
  let name: String
  let member: String?

  /// The name as messages show it.
  private var shown: String { TerminalText.line(name) }

  func inspection() throws(StateInspectionError) -> StateInspection {
    guard !bytes.isEmpty else {
      throw StateInspectionError(
        .foreign, "\(shown) is empty: no engine has stored anything in it yet.")
    }
    // Two letters would be the beginning of either form.
    if bytes.count > 2, bytes.starts(with: StateReading.logMagic.prefix(bytes.count)) {
      return try LogReading(bytes: bytes, name: name).inspection()
    }
    let search = StateSearch(bytes)
    if search.findings.count > 1 || member != nil {
      return try read(pick(from: search), of: search)
    }
    if let finding = search.findings.first { return try read(finding, of: search) }
    if let fault = search.fault {
      if let rest = StateRecovery(bytes, name: name).any {
        throw damaged("is \(fault)", readable: rest)
      }
      throw foreign(", and it is \(fault)")
    }
    if let rest = StateRecovery(bytes, name: name).whole {
      throw damaged("begins like no state", readable: rest)
    }
    throw foreign("")
  }

  private func foreign(_ detail: String) -> StateInspectionError {
    StateInspectionError(
      .foreign,
      "\(shown) holds no sync state: no state log, and no encoded CKSyncEngine state\(detail). "
        + "Give the file of the state store, or what the app saved of the latest stateUpdate event."
    )
  }

  private func damaged(_ what: String, readable: StateInspection?) -> StateInspectionError {
    StateInspectionError(
      .damaged,
      "\(shown) \(what). \(StateRecovery.summary(of: readable)) Restore it from a backup, or "
        + "let the engine start over without it.",
      readable: readable)
  }

  /// The finding that `member` names; its way begins with that.
  private func pick(from search: StateSearch) throws(StateInspectionError) -> StateSearch.Finding {
    let places = StateReading.list(search.findings.map(\.place))
    guard let member else {
      throw StateInspectionError(
        .ambiguous,
        "\(shown) holds \(search.findings.count) states, at \(places). Say which member to take.")
    }
    let fitting = search.findings.filter {
      $0.place == member || $0.place.hasPrefix(member + ".")
    }
    if fitting.count == 1, let finding = fitting.first { return finding }
    let count = fitting.isEmpty ? "no state" : "\(fitting.count) states"
    let others = places.isEmpty ? "There is none elsewhere in it." : "It has them at \(places)."
    throw StateInspectionError(
      .ambiguous, "\(shown) holds \(count) at \(TerminalText.line(member)). \(others)")
  }

  /// The first places in order of their names.
  private static func list(_ places: [String]) -> String {
    let most = 10
    let list = places.sorted().prefix(most).map(TerminalText.line).joined(separator: ", ")
    return places.count > most ? "\(list) and \(places.count - most) more" : list
  }

  private func read(
    _ finding: StateSearch.Finding, of search: StateSearch
  ) throws(StateInspectionError) -> StateInspection {
    let form = StateInspection.Form.encoded(formats: finding.formats, place: finding.place)
    let state: SyncState
    do throws(StateFormatError) {
      state = try SyncState(decoding: finding.bytes)
    } catch {
      let readable = SyncState(recovering: finding.bytes).map {
        StateInspection(
          name: name, byteCount: bytes.count, form: form, state: $0, isUnchecked: true)
      }
      switch error {
      case .foreign: throw foreign("")
      case .future(let version):
        throw StateInspectionError(
          .future,
          "The state in \(shown) has format \(version), this version reads "
            + "\(SyncState.formatVersion). Use a newer version of this tool.")
      case .damaged(let fault):
        throw damaged("holds a damaged state: \(fault)", readable: readable)
      }
    }
    let inspection = StateInspection(
      name: name, byteCount: bytes.count, form: form, state: state,
      stateFormat: Int(finding.bytes[StateReading.stateMagic.count]))
    if let fault = finding.fault ?? search.fault {
      throw damaged("is \(fault), so that an app will not open it", readable: inspection)
    }
    return inspection
  }
}
