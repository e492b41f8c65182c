import CloudProtocol
import Records
import SyncMachine

/// Events, requests and answers in the one spelling that models and checkers know.
extension ZoneSpelling {
  func plain(_ event: SyncEvent) -> SyncEvent {
    guard user != nil else { return event }
    switch event {
    case .sentRecordChanges(let sent):
      return .sentRecordChanges(
        SentRecords(
          saved: plain(sent.saved) { plain($0) }, deleted: plain(sent.deleted) { $0 }))
    case .sentDatabaseChanges(let sent):
      return .sentDatabaseChanges(
        SentZones(saved: plain(sent.saved) { plain($0) }, deleted: plain(sent.deleted) { $0 }))
    case .willSendChanges(let context): return .willSendChanges(plain(context))
    case .didSendChanges(let context): return .didSendChanges(plain(context))
    // Feeds have one spelling; another one in them is a fault that the checkers must see.
    case .stateUpdate, .accountChange, .willFetchChanges, .fetchedDatabaseChanges,
      .willFetchZoneChanges, .fetchedZoneChanges, .didFetchZoneChanges, .didFetchChanges:
      return event
    }
  }

  func plain(_ context: SendContext) -> SendContext {
    var context = context
    switch context.scope {
    case .all: break
    case .allExcluding(let zones): context.scope = .allExcluding(zones.map { plain($0) })
    case .zones(let zones): context.scope = .zones(zones.map { plain($0) })
    case .records(let records): context.scope = .records(records.map { plain($0) })
    }
    return context
  }

  func plain(_ request: CloudRequest) -> CloudRequest {
    guard user != nil else { return request }
    switch request {
    case .modifyZones(let request): return .modifyZones(plain(request))
    case .modifyRecords(let request): return .modifyRecords(plain(request))
    case .fetchZoneChanges(var request):
      request.zone = plain(request.zone)
      return .fetchZoneChanges(request)
    case .fetchZones(let zones?): return .fetchZones(zones.map { plain($0) })
    default: return request
    }
  }

  func plain(_ request: ModifyZones) -> ModifyZones {
    var request = request
    request.save = request.save.map { plain($0) }
    request.delete = request.delete.map { plain($0) }
    return request
  }

  func plain(_ request: ModifyRecords) -> ModifyRecords {
    var request = request
    for index in request.save.indices {
      request.save[index].id = plain(request.save[index].id)
      if case .set(let parent?) = request.save[index].parent {
        request.save[index].parent = .set(plain(parent))
      }
    }
    request.delete = request.delete.map { plain($0) }
    for (id, tag) in request.deleteTags where plain(id) != id {
      request.deleteTags[id] = nil
      request.deleteTags[plain(id)] = tag
    }
    return request
  }

  func plain(_ reply: CloudReply) -> CloudReply {
    guard user != nil else { return reply }
    switch reply {
    case .zones(let results): return .zones(plain(results) { plain($0) })
    case .zonesModified(let saved, let deleted):
      return .zonesModified(saved: plain(saved) { plain($0) }, deleted: plain(deleted) { $0 })
    case .recordsModified(let saved, let deleted):
      return .recordsModified(saved: plain(saved) { plain($0) }, deleted: plain(deleted) { $0 })
    case .zoneChanges(var page):
      page.zone = plain(page.zone)
      page.modified = page.modified.map { plain($0) }
      for index in page.deleted.indices { page.deleted[index].id = plain(page.deleted[index].id) }
      return .zoneChanges(page)
    default: return reply
    }
  }
}

extension CloudReply {
  /// What of an answer to `request` has another ID than it was asked for by, or a record in it
  /// another one than its item; `nil` when everything is named as asked.
  func misnamed(for request: CloudRequest) -> String? {
    switch (request, self) {
    case (.modifyRecords(let request), .recordsModified(let saved, let deleted)):
      if saved.map(\.id) != request.save.map(\.id) { return "saves" }
      if deleted.map(\.id) != request.delete { return "deletions" }
      return saved.first { $0.value.map(\.id) ?? $0.id != $0.id }?.id.path
    case (.modifyZones(let request), .zonesModified(let saved, let deleted)):
      if saved.map(\.id) != request.save { return "zone saves" }
      return deleted.map(\.id) != request.delete ? "zone deletions" : nil
    case (.fetchZoneChanges(let request), .zoneChanges(let page)):
      return page.zone != request.zone ? "a page of changes" : nil
    default: return nil
    }
  }
}

extension SyncState {
  /// The names of the zones of the user that the state belongs to.
  var spelling: ZoneSpelling { ZoneSpelling(user: user) }
}
