import WebServices

/// Clears away what hostile clients managed to save in their own places, so that what the server
/// holds in the end is what it leaks.
struct Housekeeping {
  let land: Land
  let client: Client

  func clear() throws(SiegeFault) {
    try clear("zones", "zone") { zone in
      guard let id = zone["zoneID"], id["zoneName"]?.string != "_defaultZone" else { return nil }
      return .members(["zoneID": id])
    }
    try clear("subscriptions", "subscription") { subscription in
      subscription["subscriptionID"].map { .members(["subscriptionID": $0]) }
    }
  }

  /// Deletes everything that the list of `kind` names.
  private func clear(
    _ kind: String, _ member: String, _ key: (JSON) -> JSON?
  ) throws(SiegeFault) {
    let web = land.keys.mallory
    let answer = try client.ask(land.request("GET", land.target("\(kind)/list", web: web)))
    guard answer.status == 200, let list = try? JSON(parsing: Array(answer.body)) else {
      throw SiegeFault("listing \(kind): \(answer.text.prefix(300))")
    }
    var operations = (list[kind]?.array ?? []).compactMap { element in
      key(element).map { key in
        JSON.members(["operationType": .string("delete"), member: key])
      }
    }
    while !operations.isEmpty {
      let some = Array(operations.prefix(100))
      operations.removeFirst(some.count)
      let request = land.post(
        "\(kind)/modify", web: web, .members(["operations": .array(some)]))
      let answer = try client.ask(request)
      guard answer.status == 200 else {
        throw SiegeFault("deleting \(kind): \(answer.text.prefix(300))")
      }
    }
  }
}
