import CloudProtocol
import Records

/// What came of a tape.
enum Transcript {
  /// One step.
  struct Line: Equatable, Sendable {
    let asked: String
    /// What every cloud must answer.
    let came: String
    /// What servers are free in, but must all do alike: where pages end, the order in them.
    let amongServers: String
  }
}

/// Names for what is opaque, by the order in which it was seen.
struct SeenNames {
  /// Accounts by their users' names.
  var accounts: [String: String] = [:]
  /// Whose databases are spoken of: tags and tokens of different ones have nothing in common.
  var account = ""
  private var tags: [SeenTag: Int] = [:]
  private var counts: [RecordID: Int] = [:]
  private var tokens: [ChangeToken: Int] = [:]

  /// A version of a record, by its number.
  private struct SeenTag: Hashable {
    let account: String
    let id: RecordID
    let tag: ChangeTag
  }

  mutating func name(_ tag: ChangeTag?, of id: RecordID) -> String {
    guard let tag else { return "untagged" }
    let seen = SeenTag(account: account, id: id, tag: tag)
    if tags[seen] == nil {
      counts[id, default: 0] += 1
      tags[seen] = counts[id]
    }
    return "t\(tags[seen] ?? 0)"
  }

  mutating func name(_ token: ChangeToken) -> String {
    if tokens[token] == nil { tokens[token] = tokens.count }
    return "@\(tokens[token] ?? 0)"
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
    let parent = record.parent.map { " under \($0.name)" } ?? ""
    return "\(record.id.name):\(record.type) \(name(record.changeTag, of: record.id)) "
      + "[\(fields.joined(separator: " "))]\(parent) by \(name(record.created)), "
      + "\(isFirst ? "never changed" : "changed by \(name(record.modified))")"
      + "\(isInOrder ? "" : " BEFORE IT WAS MADE")"
  }

  func describe(_ value: FieldValue) -> String {
    switch value {
    case .string(let text): "\"\(text)\""
    case .int64(let number): "\(number)"
    case .double(let number): "\(number)"
    case .date(let time): "date \(time.secondsSinceReferenceDate)"
    case .bytes(let bytes): "bytes \(bytes)"
    case .reference(let reference): "\(reference.action) \(reference.target.name)"
    case .asset(let asset): "asset \(asset.checksum)"
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
