package import CloudProtocol
package import Records

/// Zones, records and times.
///
/// In a private database the owner of every zone is the user; clients write `ZoneID.currentOwner`
/// and the service writes the user record name. Rules: WS-14 to WS-31.
extension Notation {
  /// Encodes a zone ID.
  package func json(_ zone: ZoneID) -> JSON {
    .members([
      "zoneName": .string(zone.name), "ownerRecordName": owner(of: zone).map { .string($0) },
      "zoneType": .string(
        zone.name == ZoneID.defaultName ? "DEFAULT_ZONE" : "REGULAR_CUSTOM_ZONE"),
      // A client that does not know its user record name cannot recognize its own zones.
      Notation.extra: zone.owner == ZoneID.currentOwner || database == .shared
        ? nil : exact { $0.write(zone.owner) },
    ])
  }

  private func owner(of zone: ZoneID) -> String? {
    guard zone.owner == ZoneID.currentOwner else { return zone.owner }
    // Only this package's client reads the name of an unknown requester as its own.
    return database == .shared && (isExact || user == nil)
      ? ZoneID.currentOwner : user?.rawValue
  }

  /// Decodes a zone ID; without a name it is the default zone.
  package func zone(_ json: JSON) throws(CloudError) -> ZoneID {
    guard json.members != nil else { throw .malformed("a zone ID must be an object") }
    let name = try json.optionalText("zoneName") ?? ZoneID.defaultName
    if let owner = try exact(
      in: json,
      { (reader) throws(ByteFormatError) in
        try reader.string()
      })
    {
      return ZoneID(name: name, owner: owner)
    }
    let owner = try json.optionalText("ownerRecordName", "ownerName")
    guard let owner, database == .shared || (user != nil && owner != user?.rawValue) else {
      return ZoneID(name: name)
    }
    return ZoneID(name: name, owner: owner)
  }

  /// The zone in the member `name` of `json`; `other` when it is absent.
  package func zone(
    in json: JSON, _ name: String = "zoneID", or other: ZoneID = .default
  ) throws(CloudError) -> ZoneID {
    try json[name].map { (value) throws(CloudError) in try zone(value) } ?? other
  }

  /// Decodes a record ID from `recordName` and the zone, if it is given.
  package func recordID(_ json: JSON, in zone: ZoneID) throws(CloudError) -> RecordID {
    RecordID(name: try json.text("recordName"), zone: try self.zone(in: json, or: zone))
  }

  /// The record in the member `name`; `nil` when it is absent.
  package func recordID(
    in json: JSON, _ name: String, zone: ZoneID
  ) throws(CloudError) -> RecordID? {
    try json[name].map { (value) throws(CloudError) in try recordID(value, in: zone) }
  }

  /// Encodes a record ID relative to `zone`.
  package func json(_ id: RecordID, from zone: ZoneID? = nil) -> JSON {
    .members([
      "recordName": .string(id.name), "zoneID": id.zone == zone ? nil : json(id.zone),
    ])
  }

  /// Milliseconds from 1970 to 2001, the reference date of `Timestamp`.
  private static let epoch: Double = 978_307_200_000

  /// A time in whole milliseconds since 1970; 0 when out of range.
  package static func milliseconds(_ time: Timestamp) -> Int64 { wholeMilliseconds(time) ?? 0 }

  /// A time in whole milliseconds since 1970; `nil` when out of range.
  package static func wholeMilliseconds(_ time: Timestamp) -> Int64? {
    let value = (time.secondsSinceReferenceDate * 1000 + epoch).rounded()
    // Up to here a `Double` represents every integer.
    return value.magnitude <= 9_007_199_254_740_992 ? Int64(value) : nil
  }

  /// The time for milliseconds since 1970; `nil` if a `Timestamp` cannot represent it exactly.
  package static func exactTime(milliseconds: Int64) -> Timestamp? {
    let time = time(milliseconds: milliseconds)
    return Notation.wholeMilliseconds(time) == milliseconds ? time : nil
  }

  /// The time for milliseconds since 1970.
  package static func time(milliseconds: Int64) -> Timestamp {
    Timestamp(secondsSinceReferenceDate: (Double(milliseconds) - epoch) / 1000)
  }
}

extension DatabaseScope {
  /// The database's name in a path.
  package var pathName: String {
    switch self {
    case .public: "public"
    case .private: "private"
    case .shared: "shared"
    }
  }

  /// The database with a name in a path.
  package init?(pathName: some StringProtocol) {
    guard let scope = DatabaseScope.allCases.first(where: { $0.pathName == pathName }) else {
      return nil
    }
    self = scope
  }
}
