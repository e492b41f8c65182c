import CloudProtocol
import Records

/// The result of a tape.
enum Transcript {
  /// One step.
  struct Line: Equatable, Sendable {
    let asked: String
    /// The part that every cloud must answer alike.
    let came: String
    /// The part that only servers must answer alike: the ends of pages and the order in them.
    let amongServers: String
  }
}

/// Names for what is opaque, by the order in which it was seen.
struct SeenNames {
  /// The identity of a record, independent of the account that sees it.
  struct Place: Hashable {
    let home: String
    let zone: String
    let name: String
  }

  private struct SeenTag: Hashable {
    let place: Place
    let tag: ChangeTag
  }

  /// Accounts by their users' names.
  var accounts: [String: String] = [:]
  /// The owner of the current database: tags and tokens of different ones have nothing in common.
  var home = ""
  /// The account that asks: `CKCurrentUserDefaultName` stands for it.
  var asker = ""
  /// Names of files by their checksums.
  var files: [String: String] = [:]
  /// URLs of shares by what they share.
  private(set) var urls: [String: String] = [:]
  private var tags: [SeenTag: Int] = [:]
  private var counts: [Place: Int] = [:]
  private var tokens: [ChangeToken: Int] = [:]

  func place(_ id: RecordID) -> Place {
    let isOwn = id.zone.owner == ZoneID.currentOwner
    return Place(
      home: isOwn ? home : accounts[id.zone.owner] ?? id.zone.owner, zone: id.zone.name,
      name: id.name)
  }

  mutating func name(_ tag: ChangeTag?, of id: RecordID) -> String {
    guard let tag else { return "untagged" }
    let seen = SeenTag(place: place(id), tag: tag)
    if tags[seen] == nil {
      counts[seen.place, default: 0] += 1
      tags[seen] = counts[seen.place]
    }
    return "t\(tags[seen] ?? 0)"
  }

  mutating func name(_ token: ChangeToken) -> String {
    if tokens[token] == nil { tokens[token] = tokens.count }
    return "@\(tokens[token] ?? 0)"
  }

  /// A zone with its owner where that is not who asks.
  func name(_ zone: ZoneID) -> String {
    zone.owner == ZoneID.currentOwner
      ? zone.name : "\(accounts[zone.owner] ?? zone.owner)'s \(zone.name)"
  }

  /// A URL by what it shares; the same thing has the same URL for ever.
  private mutating func name(_ url: String?, of share: RecordID, root: RecordID?) -> String {
    guard let url else { return "no url" }
    let place = place(root ?? share)
    let label = "\(place.home)/\(place.zone)/\(root == nil ? "" : place.name)"
    if let known = urls[label], known != url { return "ANOTHER URL" }
    urls[label] = url
    return "url of \(label)"
  }

  private func name(_ stamp: RecordStamp?) -> String {
    guard let stamp else { return "nobody" }
    let user =
      stamp.user.rawValue == ZoneID.currentOwner
      ? "the asker" : accounts[stamp.user.rawValue] ?? "a stranger"
    return "\(user) on \(stamp.device ?? "nothing")"
  }

  /// Everything an app can see of a record.
  mutating func describe(_ record: Record) -> String {
    let fields = record.fields.map { element in
      "\(element.key)=\(describe(element.field.value))\(element.field.isEncrypted ? "*" : "")"
    }
    let isFirst = record.created == record.modified
    let isInOrder = (record.created?.time ?? .never) <= (record.modified?.time ?? .never)
    let parent = record.parent.map { " under \(name($0, beside: record.id))" } ?? ""
    let share = record.share.map { " in \(name($0, beside: record.id))" } ?? ""
    let sharing = record.sharing.map { " \(describe($0, of: record.id))" } ?? ""
    return "\(record.id.name):\(record.type) \(name(record.changeTag, of: record.id)) "
      + "[\(fields.joined(separator: " "))]\(parent)\(share)\(sharing) by \(name(record.created)), "
      + "\(isFirst ? "never changed" : "changed by \(name(record.modified))")"
      + "\(isInOrder ? "" : " BEFORE IT WAS MADE")"
  }

  /// A record by its name, and its zone where that is another.
  private func name(_ id: RecordID, beside other: RecordID) -> String {
    id.zone == other.zone ? id.name : "\(name(id.zone))/\(id.name)"
  }

  mutating func describe(_ details: ShareDetails, of share: RecordID) -> String {
    let people = details.participants.map { one in
      let isMe = one.id == details.currentParticipant ? "me, " : ""
      return "\(isMe)\(name(one.identity)) \(one.role) \(one.permission) \(one.acceptance)"
    }
    let root = details.root.map { name($0, beside: share) } ?? "the zone"
    let url = name(details.url, of: share, root: details.root)
    return "{shares \(root), \(details.publicPermission), \(url): "
      + "\(people.sorted().joined(separator: "; "))}"
  }

  func name(_ person: UserIdentity) -> String {
    if let user = person.user { return accounts[user.rawValue] ?? "a stranger" }
    return person.lookup.map { "\($0)" } ?? "nobody"
  }

  /// The account behind a user's name, of which there are two for the asker; other names as they
  /// are.
  private func person(_ name: String) -> String {
    name == ZoneID.currentOwner ? asker : accounts[name] ?? name
  }

  func describe(_ value: FieldValue) -> String {
    switch value {
    case .string(let text): "\"\(text)\""
    case .int64(let number): "\(number)"
    case .double(let number): "\(number)"
    case .date(let time): "date \(time.secondsSinceReferenceDate)"
    case .bytes(let bytes): "bytes \(bytes)"
    case .reference(let reference): "\(reference.action) \(person(reference.target.name))"
    case .asset(let asset):
      "\(files[asset.checksum] ?? "an unknown file") of \(asset.size)"
        + (asset.receipt == nil ? "" : " with a receipt")
    case .location(let location): "place \(location.latitude) \(location.longitude)"
    case .list(let values): "(\(values.map(describe).joined(separator: ",")))"
    }
  }

  mutating func describe(_ error: CloudError) -> String {
    let reset = error.userDidResetEncryptedData ? " after a reset" : ""
    let theirs = error.serverRecord.map { " {\(describe($0))}" } ?? ""
    return "!\(error.code)\(reset)\(theirs)"
  }
}

extension Timestamp {
  fileprivate static let never = Timestamp(secondsSinceReferenceDate: 0)
}
