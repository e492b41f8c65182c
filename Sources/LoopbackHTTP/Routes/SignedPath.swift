import CloudProtocol
import LoopbackServer
import Records

/// A signed URL path: an upload, a download or a courier URL issued by this server.
///
/// It grants access without a token, as the URLs of CloudKit's own file servers do. Rules:
/// WS-70, WS-84 and WS-86.
enum SignedPath: Sendable {
  /// The account, device and database that the path was issued for.
  struct Owner: Hashable, Sendable {
    var account: String
    var device: String
    var container: String
    var environment: CloudEnvironment
    var database: DatabaseScope
  }

  /// Uploads a file's content.
  case upload(Owner, recordType: String, key: String, requestID: String, until: Timestamp)
  /// Downloads a file's content.
  case download(Owner, RecordID, key: String, checksum: String)
  /// Waits for the next push.
  case courier(Owner)

  /// The path prefix of each kind.
  private static let kinds: [(path: String, kind: TokenSigner.Kind)] = [
    ("/assets/upload/", .upload), ("/assets/download/", .download), ("/courier/", .courier),
  ]

  /// The allowed methods.
  var methods: [String] {
    switch self {
    case .upload: ["POST", "PUT", "OPTIONS"]
    case .download: ["GET", "HEAD", "OPTIONS"]
    case .courier: ["GET", "OPTIONS"]
    }
  }

  /// Whether the request has a body.
  var isUpload: Bool {
    if case .upload = self { true } else { false }
  }

  /// Whether a path has the form of a signed path, valid or not.
  static func hasPrefix(_ path: String) -> Bool {
    kinds.contains { path.hasPrefix($0.path) }
  }

  /// Verifies and parses a path; `nil` when it was not issued by this server.
  init?(path: String, signer: TokenSigner) {
    guard let (prefix, kind) = SignedPath.kinds.first(where: { path.hasPrefix($0.path) }) else {
      return nil
    }
    let text = path.dropFirst(prefix.utf8.count).prefix { $0 != "/" }
    let signedPath = signer.verify(text, kind) { (reader) throws(ByteFormatError) in
      try SignedPath(&reader, kind)
    }
    guard let signedPath else { return nil }
    self = signedPath
  }

  private init(_ reader: inout ByteReader, _ kind: TokenSigner.Kind) throws(ByteFormatError) {
    let owner = try Owner(&reader)
    switch kind {
    case .upload:
      self = .upload(
        owner, recordType: try reader.string(), key: try reader.string(),
        requestID: try reader.string(),
        until: Timestamp(secondsSinceReferenceDate: try reader.double()))
    case .download:
      self = .download(
        owner, try reader.recordID(), key: try reader.string(), checksum: try reader.string())
    case .courier: self = .courier(owner)
    case .webToken, .signIn: throw reader.fault("the kind is not a signed path")
    }
  }

  /// The signed path.
  func path(_ signer: TokenSigner) -> String {
    switch self {
    case .upload(let owner, let recordType, let key, let requestID, let until):
      "/assets/upload/"
        + signer.sign(.upload) { writer in
          owner.write(to: &writer)
          writer.write(recordType)
          writer.write(key)
          writer.write(requestID)
          writer.write(until.secondsSinceReferenceDate)
        }
    case .download(let owner, let id, let key, let checksum):
      "/assets/download/"
        + signer.sign(.download) { writer in
          owner.write(to: &writer)
          writer.write(id)
          writer.write(key)
          writer.write(checksum)
        }
    case .courier(let owner): "/courier/" + signer.sign(.courier) { owner.write(to: &$0) }
    }
  }
}

extension SignedPath.Owner {
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
    else { throw reader.fault("it does not name a database") }
    self.environment = environment
    self.database = database
  }

  /// A call for the owner.
  func call(_ request: CloudRequest, id: String) -> CloudCall {
    CloudCall(
      container: container, environment: environment, database: database, requestID: id,
      request: request)
  }
}
