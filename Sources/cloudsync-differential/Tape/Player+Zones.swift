import CloudProtocol
import CloudSyncTesting
import Records

/// Zones: made, deleted, listed.
extension Player {
  mutating func modifyZones(_ device: Device, _ request: ModifyZones) async {
    let asked = "\(device.name) zones +\(request.save.map(\.name)) -\(request.delete.map(\.name))"
    note(asked, describe(zones: await send(.modifyZones(request), from: device)))
  }

  mutating func fetchZones(_ device: Device, _ ids: [ZoneID]?) async {
    let asked = "\(device.name) list \(ids?.map(\.name) ?? ["all"])"
    let answer = await send(.fetchZones(ids), from: device)
    guard case .success(.zones(let results)) = answer else {
      return note(asked, describe(failure: answer))
    }
    let words = results.map { result in
      let can = result.value?.capabilities.rawValue.description
      return result.id.name + (result.error.map { names.describe($0) } ?? " \(can ?? "?")")
    }
    // In which order all zones are listed is the server's to choose.
    note(
      asked, (ids == nil ? words.sorted() : words).joined(separator: "; "),
      among: words.joined(separator: "; "))
  }

  mutating func describe(zones answer: Result<CloudReply, CloudError>) -> String {
    guard case .success(.zonesModified(let saved, let deleted)) = answer else {
      return describe(failure: answer)
    }
    let words =
      saved.map { "+\($0.id.name)\($0.error.map { names.describe($0) } ?? "")" }
      + deleted.map { "-\($0.id.name)\($0.error.map { names.describe($0) } ?? "")" }
    return words.joined(separator: "; ")
  }

  /// What is said instead of an answer.
  mutating func describe(failure answer: Result<CloudReply, CloudError>) -> String {
    switch answer {
    case .failure(let error): names.describe(error)
    case .success: "an answer to something else"
    }
  }

  /// A request in a line.
  mutating func describe(_ request: ModifyRecords) -> String {
    let saves = request.save.map { save in
      let fields = save.changes.map { change in
        "\(change.key)=\(change.field.map { names.describe($0.value) } ?? "nil")"
      }
      let policy = save.policy.map { " \($0)" } ?? ""
      let parent =
        if case .set(let parent) = save.parent { " under \(parent?.name ?? "nil")" } else { "" }
      let clears = save.clearsOtherFields ? " only" : ""
      let tag = save.changeTag.map { names.name($0, of: save.id) } ?? "new"
      return "+\(save.id.zone.name)/\(save.id.name) \(tag)"
        + " \(fields.joined(separator: ","))\(parent)\(policy)\(clears)"
    }
    let deletes = request.delete.map { id in
      let tag = request.deleteTags[id].map { " " + names.name($0, of: id) } ?? ""
      return "-\(id.zone.name)/\(id.name)\(tag)"
    }
    return "\(request.isAtomic ? "atomic" : "loose") \(request.policy): "
      + (saves + deletes).joined(separator: "; ")
  }
}
