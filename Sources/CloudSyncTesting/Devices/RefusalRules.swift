import CloudProtocol
import Records
import Synchronization

/// Rules that reject single changes, as a server does that accepts the rest of a request.
final class RefusalRules: Sendable {
  struct Rule: Sendable {
    var error: CloudError
    /// The records, by name; `nil` for any.
    var name: String?
    /// Saves or deletions; `nil` for both.
    var isDeletion: Bool?
    var device: String?
    var remaining: Int
  }

  private let rules = Mutex<[Rule]>([])

  func add(_ rule: Rule) {
    if rule.remaining > 0 { rules.withLock { $0.append(rule) } }
  }

  func clear() { rules.withLock { $0 = [] } }

  /// Takes one rejection of the rule for a change; `nil` if there is none.
  func take(_ record: RecordID, isDeletion: Bool, device: String) -> Rule? {
    rules.withLock { rules in
      let index = rules.firstIndex { rule in
        (rule.name ?? record.name) == record.name && (rule.device ?? device) == device
          && (rule.isDeletion ?? isDeletion) == isDeletion
      }
      guard let index else { return nil }
      rules[index].remaining -= 1
      var taken = rules[index]
      taken.remaining = 1
      if rules[index].remaining == 0 { rules.remove(at: index) }
      return taken
    }
  }

  /// Returns rejections of a request that did not reach the server.
  func putBack(_ taken: [Rule]) { rules.withLock { $0.insert(contentsOf: taken, at: 0) } }
}

/// A transport of one device that rejects single changes by rules.
final class RefusingTransport: CloudTransport {
  private let base: any CloudTransport
  private let device: String
  private let book: RefusalRules

  init(_ base: any CloudTransport, device: String, book: RefusalRules) {
    self.base = base
    self.device = device
    self.book = book
  }

  func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation { base.observeSignals(listener) }

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    guard case .modifyRecords(let request) = call.request else { return try await base.send(call) }
    let (refused, rules) = refusals(in: request)
    guard !refused.isEmpty else { return try await base.send(call) }
    var part = call
    var allowed = request
    allowed.save.removeAll { refused[$0.id] != nil }
    allowed.delete.removeAll { refused[$0] != nil }
    part.request = .modifyRecords(allowed)
    var saved: [RecordID: ItemResult<RecordID, Record>] = [:]
    var deleted: [RecordID: ItemResult<RecordID, Done>] = [:]
    do throws(CloudError) {
      // Also without a change that is left: a device may be offline or signed out.
      guard case .recordsModified(let saves, let deletes) = try await base.send(part) else {
        throw CloudError(.internalError, "the server's answer does not belong to the request")
      }
      for result in saves { saved[result.id] = result }
      for result in deletes { deleted[result.id] = result }
    } catch {
      book.putBack(rules)
      throw error
    }
    return .recordsModified(
      saved: request.save.compactMap { save in
        refused[save.id].map { ItemResult(id: save.id, .failure($0)) } ?? saved[save.id]
      },
      deleted: request.delete.compactMap { id in
        refused[id].map { ItemResult(id: id, .failure($0)) } ?? deleted[id]
      })
  }

  /// The errors of the rejected changes, and of those that fail with them in an atomic request, and
  /// the rejections.
  private func refusals(
    in request: ModifyRecords
  ) -> ([RecordID: CloudError], [RefusalRules.Rule]) {
    var refused: [RecordID: CloudError] = [:]
    var rules: [RefusalRules.Rule] = []
    let changes = request.save.map { ($0.id, false) } + request.delete.map { ($0, true) }
    for (id, isDeletion) in changes {
      guard let rule = book.take(id, isDeletion: isDeletion, device: device) else { continue }
      refused[id] = rule.error
      rules.append(rule)
    }
    guard request.isAtomic, !refused.isEmpty else { return (refused, rules) }
    // As on the server, no request is atomic in the default zone.
    let zones = Set(refused.keys.map(\.zone).filter { $0 != .default })
    let companion = CloudError(
      .batchRequestFailed, "another change of the same zone was refused, so this was not made")
    for id in request.save.map(\.id) + request.delete
    where zones.contains(id.zone) && refused[id] == nil {
      refused[id] = companion
    }
    return (refused, rules)
  }
}
