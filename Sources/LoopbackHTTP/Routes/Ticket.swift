import CloudProtocol
import LoopbackServer
import Records

/// A path that only this server can have handed out, and what it is good for.
///
/// It lets in without a token, as the URLs of CloudKit's own file servers do: whoever has it has
/// what it is about. Source: web-services 1.8 and 1.10.
enum Ticket: Sendable {
  /// Whose request handed it out.
  struct Holder: Hashable, Sendable {
    var account: String
    var device: String
    var container: String
    var environment: CloudEnvironment
    var database: DatabaseScope
  }

  /// Brings a file's content.
  case upload(Holder, recordType: String, key: String, requestID: String, until: Timestamp)
  /// Gives a file's content.
  case download(Holder, RecordID, key: String, checksum: String)
  /// Gives the next push.
  case courier(Holder)

  /// What a URL of each kind begins with.
  private static let kinds: [(path: String, kind: Seal.Kind)] = [
    ("/assets/upload/", .upload), ("/assets/download/", .download), ("/courier/", .courier),
  ]

  /// The methods it is used with.
  var methods: [String] {
    switch self {
    case .upload: ["POST", "PUT", "OPTIONS"]
    case .download: ["GET", "HEAD", "OPTIONS"]
    case .courier: ["GET", "OPTIONS"]
    }
  }

  /// Whether a body comes with it.
  var isUpload: Bool {
    if case .upload = self { true } else { false }
  }

  /// Reads a path; `nil` when it is no ticket of this server's.
  init?(path: String, seal: Seal) {
    guard let (prefix, kind) = Ticket.kinds.first(where: { path.hasPrefix($0.path) }) else {
      return nil
    }
    let text = path.dropFirst(prefix.utf8.count).prefix { $0 != "/" }
    let ticket = seal.open(text, kind) { (reader) throws(ByteFormatError) in
      try Ticket(&reader, kind)
    }
    guard let ticket else { return nil }
    self = ticket
  }

  private init(_ reader: inout ByteReader, _ kind: Seal.Kind) throws(ByteFormatError) {
    let holder = try Holder(&reader)
    switch kind {
    case .upload:
      self = .upload(
        holder, recordType: try reader.string(), key: try reader.string(),
        requestID: try reader.string(),
        until: Timestamp(secondsSinceReferenceDate: try reader.double()))
    case .download:
      self = .download(
        holder, try reader.recordID(), key: try reader.string(), checksum: try reader.string())
    case .courier: self = .courier(holder)
    case .webToken: throw reader.fault("it is no ticket")
    }
  }

  /// The path that stands for it.
  func path(_ seal: Seal) -> String {
    switch self {
    case .upload(let holder, let recordType, let key, let requestID, let until):
      "/assets/upload/"
        + seal.close(.upload) { writer in
          holder.write(to: &writer)
          writer.write(recordType)
          writer.write(key)
          writer.write(requestID)
          writer.write(until.secondsSinceReferenceDate)
        }
    case .download(let holder, let id, let key, let checksum):
      "/assets/download/"
        + seal.close(.download) { writer in
          holder.write(to: &writer)
          writer.write(id)
          writer.write(key)
          writer.write(checksum)
        }
    case .courier(let holder): "/courier/" + seal.close(.courier) { holder.write(to: &$0) }
    }
  }
}

extension Ticket.Holder {
  fileprivate func write(to writer: inout ByteWriter) {
    writer.write(account)
    writer.write(device)
    writer.write(container)
    writer.write(environment.rawValue)
    writer.write(database.rawValue)
  }

  fileprivate init(_ reader: inout ByteReader) throws(ByteFormatError) {
    account = try reader.string()
    device = try reader.string()
    container = try reader.string()
    guard let environment = CloudEnvironment(rawValue: try reader.string()),
      let database = DatabaseScope(rawValue: try reader.byte())
    else { throw reader.fault("it names no database") }
    self.environment = environment
    self.database = database
  }

  /// The request of this holder.
  func call(_ request: CloudRequest, id: String) -> CloudCall {
    CloudCall(
      container: container, environment: environment, database: database, requestID: id,
      request: request)
  }
}
