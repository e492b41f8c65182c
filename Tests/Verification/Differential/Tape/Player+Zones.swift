import CloudProtocol
import Records
import SimulationSupport

/// Zones: made, deleted, listed.
extension Player {
  mutating func modifyZones(_ site: Site, _ request: ModifyZones) async {
    let asked =
      "\(site.label) zones +\(request.save.map { names.name($0) })"
      + " -\(request.delete.map { names.name($0) })"
    let answer = await send(.modifyZones(request), from: site.device, in: site.scope)
    if site.scope == .shared, case .success(.zonesModified(_, let deleted)) = answer,
      deleted.contains(where: { $0.error == nil })
    {
      count(.zoneLeft)
    }
    note(asked, describe(zones: answer))
  }

  mutating func fetchZones(_ site: Site, _ ids: [ZoneID]?) async {
    let asked = "\(site.label) list \(ids?.map { names.name($0) } ?? ["all"])"
    let answer = await send(.fetchZones(ids), from: site.device, in: site.scope)
    guard case .success(.zones(let results)) = answer else {
      return note(asked, describe(failure: answer))
    }
    let words = results.map { result in
      guard let zone = result.value else {
        return names.name(result.id) + (result.error.map { names.describe($0) } ?? "")
      }
      return "\(names.name(zone.id)) \(zone.capabilities.rawValue) \(zone.share?.name ?? "")"
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
      saved.map { "+\(names.name($0.id))\($0.error.map { names.describe($0) } ?? "")" }
      + deleted.map { "-\(names.name($0.id))\($0.error.map { names.describe($0) } ?? "")" }
    return words.joined(separator: "; ")
  }

  /// The description of an error.
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
      let sharing = save.sharing.map { " \(names.describe($0, of: save.id))" } ?? ""
      return "+\(names.name(save.id.zone))/\(save.id.name) \(tag)"
        + " \(fields.joined(separator: ","))\(parent)\(policy)\(clears)\(sharing)"
    }
    let deletes = request.delete.map { id in
      let tag = request.deleteTags[id].map { " " + names.name($0, of: id) } ?? ""
      return "-\(names.name(id.zone))/\(id.name)\(tag)"
    }
    return "\(request.isAtomic ? "atomic" : "loose") \(request.policy): "
      + (saves + deletes).joined(separator: "; ")
  }
}
