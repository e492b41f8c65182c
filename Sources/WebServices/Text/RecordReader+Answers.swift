import CloudProtocol
import Records

/// Responses in the form that this package's server writes.
extension RecordReader {
  /// Decodes the response to `request`; `nil` if an item failed, which requires the full decoder.
  mutating func recordsModified(by request: ModifyRecords) -> CloudReply? {
    var saved: [ItemResult<RecordID, Record>] = []
    var deleted: [ItemResult<RecordID, Done>] = []
    saved.reserveCapacity(request.save.count)
    deleted.reserveCapacity(request.delete.count)
    guard take(#"{"records":["#) else { return nil }
    for index in 0..<(request.save.count + request.delete.count) {
      guard index == 0 || take(",") else { return nil }
      if index < request.save.count {
        guard let result = savedItem(request.save[index].id) else { return nil }
        saved.append(result)
      } else {
        guard let result = deletedItem(request.delete[index - request.save.count]) else {
          return nil
        }
        deleted.append(result)
      }
    }
    guard take("]") else { return nil }
    if take(#","syncToken":""#) {
      guard string() != nil else { return nil }
    }
    return take("}") ? .recordsModified(saved: saved, deleted: deleted) : nil
  }

  private mutating func savedItem(_ id: RecordID) -> ItemResult<RecordID, Record>? {
    let start = position
    if let record = record(depth: 2) { return notation.result(record, askedAs: id) }
    position = start
    guard let item = tree(depth: 2) else { return nil }
    do throws(CloudError) {
      if let error = try notation.error(item) { return ItemResult(id: id, .failure(error)) }
      return notation.result(try notation.record(item, in: id.zone), askedAs: id)
    } catch {
      return nil
    }
  }

  private mutating func deletedItem(_ id: RecordID) -> ItemResult<RecordID, Done>? {
    let start = position
    if take(#"{"recordName":""#), let name = string(), take(#","deleted":true,"zoneID":"#),
      let zone = zoneID(depth: 3), take("}")
    {
      return ItemResult(
        id: RecordID(name: name, zone: notation.named(zone, askedAs: id.zone)), .success(Done()))
    }
    position = start
    guard let item = tree(depth: 2) else { return nil }
    do throws(CloudError) {
      if let error = try notation.error(item) { return ItemResult(id: id, .failure(error)) }
      let name = try notation.recordID(item, in: id.zone)
      return ItemResult(
        id: RecordID(name: name.name, zone: notation.named(name.zone, askedAs: id.zone)),
        .success(Done()))
    } catch {
      return nil
    }
  }

  /// Decodes the records that were requested by name.
  mutating func records(_ ids: [RecordID]) -> CloudReply? {
    var results: [ItemResult<RecordID, Record>] = []
    results.reserveCapacity(ids.count)
    guard take(#"{"records":["#) else { return nil }
    for (index, id) in ids.enumerated() {
      guard index == 0 || take(","), let result = savedItem(id) else { return nil }
      results.append(result)
    }
    return take("]}") ? .records(results) : nil
  }

  /// Decodes a page of query results; `zone` is the default for records without a zone.
  mutating func queryPage(in zone: ZoneID) -> CloudReply? {
    guard take(#"{"records":["#) else { return nil }
    var page = QueryPage(records: [], cursor: nil)
    while !take("]") {
      guard page.records.isEmpty || take(",") else { return nil }
      let start = position
      if let record = record(depth: 2) {
        page.records.append(record)
        continue
      }
      position = start
      guard let item = tree(depth: 2), let record = try? notation.record(item, in: zone) else {
        return nil
      }
      page.records.append(record)
    }
    if take(#","continuationMarker":""#) {
      guard let text = string(), let cursor = Notation.bytes(base64: text) else { return nil }
      page.cursor = QueryCursor(bytes: cursor)
    }
    if take(#","syncToken":""#) {
      guard string() != nil else { return nil }
    }
    return take("}") ? .queried(page) : nil
  }

  /// Decodes a page of the feed of the requested zone.
  mutating func zoneChanges(of asked: ZoneID) -> CloudReply? {
    guard take(#"{"zones":[{"zoneID":"#), let zone = zoneID(depth: 3),
      take(#","syncToken":""#), let text = string(), let token = Notation.bytes(base64: text)
    else { return nil }
    let moreComing = take(#","moreComing":true"#)
    guard moreComing || take(#","moreComing":false"#), take(#","records":["#) else { return nil }
    var page = ZoneChangesPage(
      zone: notation.named(zone, askedAs: asked), modified: [], deleted: [],
      token: ChangeToken(bytes: token),
      moreComing: moreComing)
    var isFirst = true
    while !take("]") {
      guard isFirst || take(","), change(&page) else { return nil }
      isFirst = false
    }
    return take("}]}") ? .zoneChanges(page) : nil
  }

  private mutating func change(_ page: inout ZoneChangesPage) -> Bool {
    let start = position
    if let record = record(depth: 4) {
      page.modified.append(record)
      return true
    }
    position = start
    if let deletion = deletion(depth: 4) {
      page.deleted.append(deletion)
      return true
    }
    position = start
    guard let item = tree(depth: 4) else { return false }
    do throws(CloudError) {
      if try item.flag("deleted") == true {
        page.deleted.append(try notation.deletion(item, in: page.zone))
      } else {
        page.modified.append(try notation.record(item, in: page.zone))
      }
      return true
    } catch {
      return false
    }
  }
}
