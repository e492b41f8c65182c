import CloudProtocol
import Records

/// Requests in the form that this package's client writes.
extension RecordReader {
  /// Reads the body of `records/modify`.
  mutating func operations() -> ServerRequest.Operations? {
    var operations = ServerRequest.Operations()
    guard take(#"{"operations":["#) else { return nil }
    var isFirst = true
    while !take("]") {
      guard isFirst || take(","), operation(&operations) else { return nil }
      isFirst = false
    }
    guard operations.operationIndexes.count <= notation.itemLimit ?? .max, take(#","zoneID":"#),
      let zone = zoneID(depth: 1)
    else { return nil }
    operations.zone = zone
    operations.request.isAtomic = take(#","atomic":true"#)
    guard operations.request.isAtomic || take(#","atomic":false"#) else { return nil }
    if operations.request.isAtomic, operations.areRefusedAsAtomic(notation) { return nil }
    if take(#","desiredKeys":"#) {
      guard let keys = tree(depth: 1), !keys.isNull,
        let fields = try? notation.fieldSelection(.members(["desiredKeys": keys]))
      else { return nil }
      operations.request.fields = fields
    }
    return take("}") ? operations : nil
  }

  private mutating func operation(_ operations: inout ServerRequest.Operations) -> Bool {
    guard take(#"{"operationType":""#), let type = string(), take(#","record":"#) else {
      return false
    }
    if type == "delete" || type == "forceDelete" {
      guard take(#"{"recordName":""#), let name = string(), take(#","zoneID":"#),
        let zone = zoneID(depth: 4)
      else { return false }
      var tag: ChangeTag?
      if take(#","recordChangeTag":""#) {
        guard let text = string() else { return false }
        tag = ChangeTag(text)
      }
      guard (tag != nil) == (type == "delete"), take("}}") else { return false }
      operations.add(RecordID(name: name, zone: zone), tag: tag)
      return true
    }
    guard let save = save(depth: 3) else { return false }
    return (try? operations.add(save, type)) != nil && take("}")
  }
}
