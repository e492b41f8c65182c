import CloudProtocol
package import Records

/// The location of a share, found by its URL.
///
/// The URL is derived from the root and the storage's secret, so it is the same when the share is
/// created again and cannot be guessed. A registry, stored as records of an internal database
/// without an owner, maps a URL to its share.
struct ShareAddress {
  /// The owner's database.
  var home: DatabaseID
  /// The share record.
  var share: RecordID

  /// The prefix of every share URL.
  static let prefix = ShareMetadata.urlPrefix

  /// The URL of the share of `root`, or of the whole zone for `nil`.
  ///
  /// Rules: CS-150 to CS-170.
  static func url(
    ofShareOf root: RecordID?, in zone: ZoneID, _ home: DatabaseID, _ storage: any CloudStorage
  ) throws -> String {
    let secret = try storage.secret()
    var writer = ByteWriter(capacity: 256)
    writer.write(fixed: secret.first)
    writer.write(home.container)
    writer.write(home.environment.rawValue)
    writer.write(home.owner?.rawValue ?? "")
    writer.write(zone.name)
    writer.write(optional: root) { $0.write($1.name) }
    writer.write(fixed: secret.second)
    return prefix + SHA256.hexadecimal(of: writer.bytes).prefix(40)
  }

  /// The ID of a participant who was invited without one to the share at `url`.
  ///
  /// It is derived from the identity and the storage's secret, so that a repeated request gives the
  /// same ID, which discloses nothing about the user.
  static func participantID(
    of identity: UserIdentity, in url: String, _ storage: any CloudStorage
  ) throws -> String {
    let secret = try storage.secret()
    var writer = ByteWriter(capacity: 256)
    writer.write(fixed: secret.second)
    writer.write(url)
    writer.write(optional: identity.user) { $0.write($1.rawValue) }
    writer.write(optional: identity.user == nil ? identity.lookup : nil) { $0.write($1) }
    writer.write(fixed: secret.first)
    return String(SHA256.hexadecimal(of: writer.bytes).prefix(32))
  }

  /// The change that registers `url` for the share `id`.
  static func registration(
    of url: String, for id: RecordID, in home: DatabaseID
  ) -> StorageChange {
    let entry = RecordID(name: String(url.dropFirst(prefix.count)), zone: zone)
    var record = Record(id: entry, type: "ShareAddress")
    record.fields = [
      "owner": .string(home.owner?.rawValue ?? ""), "zone": .string(id.zone.name),
      "share": .string(id.name),
    ]
    return .putRecord(
      RecordRow(id: entry, type: record.type, record: record, changedAt: 0, device: nil),
      in: register(home))
  }

  /// The share registered for `url` in this container and environment.
  static func find(_ url: String, _ context: RequestContext) throws -> ShareAddress? {
    guard url.hasPrefix(prefix), url.utf8.count <= 2 * context.limits.nameLength else { return nil }
    let entry = RecordID(name: String(url.dropFirst(prefix.count)), zone: zone)
    guard
      let record = try context.storage.record(entry, in: register(context.database))?.record,
      case .string(let owner) = record.fields["owner"]?.value,
      case .string(let zone) = record.fields["zone"]?.value,
      case .string(let share) = record.fields["share"]?.value
    else { return nil }
    return ShareAddress(
      home: context.database.home(of: UserID(owner)),
      share: RecordID(name: share, zone: ZoneID(name: zone)))
  }

  private static let zone = ZoneID(name: "ShareAddresses")

  private static func register(_ database: DatabaseID) -> DatabaseID {
    DatabaseID(
      container: database.container, environment: database.environment, scope: .shared,
      owner: nil)
  }
}

extension CloudMachine {
  /// The share URL of `root` in a private database, even before the share exists.
  ///
  /// That of an existing share of the root was derived from another secret, if an archive without a
  /// secret brought it. A record below another root has that root's share, which is not its own.
  package func shareURL(
    ofRoot root: RecordID, in home: DatabaseID, _ storage: any CloudStorage
  ) throws -> String {
    if let share = try storage.record(root, in: home)?.record?.share,
      let sharing = try storage.record(share, in: home)?.record?.sharing, sharing.root == root,
      let url = sharing.url
    {
      return url
    }
    return try ShareAddress.url(ofShareOf: root, in: root.zone, home, storage)
  }
}
