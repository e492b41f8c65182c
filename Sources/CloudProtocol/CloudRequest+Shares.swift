public import Records

/// Asks what is behind the URLs of shares, before joining them.
public struct ResolveShares: Hashable, Sendable, Codable {
  /// The URLs.
  public var urls: [String]
  /// Which of the root record's fields are wanted; `nil` for no root record at all.
  public var rootFields: FieldSelection?

  /// Asks about `urls`.
  public init(urls: [String], rootFields: FieldSelection? = nil) {
    self.urls = urls
    self.rootFields = rootFields
  }
}

/// What can be known of a share before joining it.
public struct ShareMetadata: Hashable, Sendable, Codable {
  /// The container it lives in.
  public var container: String
  /// The share record, in the owner's zone.
  public var share: Record
  /// The record at the top of the hierarchy; `nil` when the whole zone is shared.
  public var rootID: RecordID?
  /// That record, where it was asked for.
  public var root: Record?
  /// Whose records they are.
  public var owner: UserIdentity
  /// What the asker is, or would be, in it.
  public var role: ShareRole
  /// Whether the asker accepted.
  public var acceptance: ShareAcceptance
  /// What the asker may do, or could do.
  public var permission: SharePermission

  /// Puts the description of a share together.
  public init(
    container: String, share: Record, rootID: RecordID?, root: Record? = nil,
    owner: UserIdentity, role: ShareRole, acceptance: ShareAcceptance,
    permission: SharePermission
  ) {
    self.container = container
    self.share = share
    self.rootID = rootID
    self.root = root
    self.owner = owner
    self.role = role
    self.acceptance = acceptance
    self.permission = permission
  }

  /// How the URL of every share begins that this package's server makes.
  package static let urlPrefix = "https://share.cloudsync.example/"
}
