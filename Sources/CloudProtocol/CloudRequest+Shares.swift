public import Records

/// Fetches the metadata of shares by URL, before accepting them.
public struct ResolveShares: Hashable, Sendable, Codable {
  /// The URLs of the shares, as their owners sent them.
  public var urls: [String]
  /// The fields of the root record to return; `nil` omits the root record.
  public var rootFields: FieldSelection?

  /// Creates a request.
  public init(urls: [String], rootFields: FieldSelection? = nil) {
    self.urls = urls
    self.rootFields = rootFields
  }
}

/// The metadata of a share, available before accepting it.
public struct ShareMetadata: Hashable, Sendable, Codable {
  /// The identifier of the container that the share belongs to.
  public var container: String
  /// The share record, in the owner's zone.
  public var share: Record
  /// The ID of the root record; `nil` for a zone-wide share.
  public var rootID: RecordID?
  /// The root record, if requested.
  public var root: Record?
  /// The user who owns the shared records.
  public var owner: UserIdentity
  /// The role of the current user.
  public var role: ShareRole
  /// The acceptance status of the current user.
  public var acceptance: ShareAcceptance
  /// The permission of the current user.
  public var permission: SharePermission

  /// Creates metadata.
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

  /// The prefix of all share URLs of this package's server.
  package static let urlPrefix = "https://share.cloudsync.example/"
}
