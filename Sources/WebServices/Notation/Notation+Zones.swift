package import CloudProtocol
package import Records

/// Zones in responses. Rules: WS-66 and WS-67.
extension Notation {
  /// Encodes a zone.
  package func json(_ zone: Zone) -> JSON {
    .members([
      "zoneID": json(zone.id),
      "syncToken": zone.token.map { .string(Notation.base64($0.bytes)) },
      "atomic": .bool(zone.capabilities.contains(.atomic)),
      "isEligibleForZoneShare": .bool(zone.capabilities.contains(.zoneWideSharing)),
      "isEligibleForHierarchicalShare": .bool(zone.capabilities.contains(.sharing)),
      "share": zone.share.map { json($0) },
      Notation.extra: exact { $0.write(variable: UInt64(zone.capabilities.rawValue)) },
    ])
  }

  /// Decodes a zone; `id` is the requested one.
  package func zone(
    describedBy json: JSON, asked id: ZoneID?
  ) throws(CloudError) -> Zone {
    let found = try json["zoneID"].map { (value) throws(CloudError) in try zone(value) }
    guard let id = found ?? id else { throw .malformed("a zone has no 'zoneID'") }
    var capabilities: Zone.Capabilities = []
    if let bits = try exact(
      in: json,
      { (reader) throws(ByteFormatError) in
        try reader.variable()
      })
    {
      capabilities = Zone.Capabilities(rawValue: UInt(truncatingIfNeeded: bits))
    } else if id.name != ZoneID.defaultName {
      capabilities = [.fetchChanges]
      if try json.flag("atomic") ?? true { capabilities.insert(.atomic) }
      if try json.flag("isEligibleForZoneShare") ?? true { capabilities.insert(.zoneWideSharing) }
      if try json.flag("isEligibleForHierarchicalShare") ?? true { capabilities.insert(.sharing) }
    }
    return Zone(
      id: id, capabilities: capabilities, share: try recordID(in: json, "share", zone: id),
      token: try token(json, "syncToken"))
  }

  /// Decodes a change token.
  package func token(_ json: JSON, _ name: String) throws(CloudError) -> ChangeToken? {
    try json.optionalText(name).map { (text) throws(CloudError) in
      guard let bytes = Notation.bytes(base64: text) else {
        throw .malformed("'\(name)' is not base64")
      }
      return ChangeToken(bytes: bytes)
    }
  }
}
