import CloudMachine
import CloudProtocol
import Records

extension CloudAnswer {
  /// The reply, or the error thrown.
  func reply() throws -> CloudReply { try result.get() }
}

extension Result where Success == CloudReply, Failure == CloudError {
  /// The answer in a line: `+a ok, -b zoneNotFound`, or `! limitExceeded` for the whole call.
  var words: String {
    switch self {
    case .failure(let error): "! \(error.words)"
    case .success(let reply): reply.words
    }
  }
}

extension CloudError {
  var words: String { userDidResetEncryptedData ? "\(code) reset" : "\(code)" }
}

extension CloudReply {
  var words: String {
    switch self {
    case .currentUser(let user): return "user \(user.rawValue)"
    case .databaseChanges(let page):
      return
        (page.modified.map(\.name) + page.deleted.map { "-\($0.zone.name) \($0.reason)" }
        + (page.moreComing ? ["more"] : [])).joined(separator: ", ")
    case .zoneChanges(let page): return page.words
    case .zones(let results): return line("", results, \.name)
    case .zonesModified(let saved, let deleted):
      return join(line("+", saved, \.name), line("-", deleted, \.name))
    case .records(let results): return line("", results, \.name)
    case .recordsModified(let saved, let deleted):
      return join(line("+", saved, \.name), line("-", deleted, \.name))
    case .subscriptions(let results): return line("", results, \.rawValue)
    case .subscriptionsModified(let saved, let deleted):
      return join(line("+", saved, \.rawValue), line("-", deleted, \.rawValue))
    case .queried(let page):
      return (page.records.map(\.id.name) + (page.cursor == nil ? [] : ["more"]))
        .joined(separator: ", ")
    case .sharesResolved(let results): return line("", results, \.self)
    case .sharesAccepted(let results): return line("+", results, \.self)
    case .usersFound(let results): return line("", results) { "\($0)" }
    case .assetUploaded(let asset): return "asset \(asset.size)"
    case .assetContent(let content): return "content \(content.count)"
    }
  }

  private func join(_ parts: String...) -> String {
    parts.filter { !$0.isEmpty }.joined(separator: ", ")
  }

  private func line<ID, Value>(
    _ sign: String, _ results: [ItemResult<ID, Value>], _ name: (ID) -> String
  ) -> String {
    results.map { "\(sign)\(name($0.id)) \($0.error?.words ?? "ok")" }.joined(separator: ", ")
  }
}

extension ZoneChangesPage {
  var words: String {
    (modified.map(\.id.name) + deleted.map { "-\($0.id.name)" } + (moreComing ? ["more"] : []))
      .joined(separator: ", ")
  }
}
