/// The actions of users on shares.
enum SharingAction: String, CaseIterable, Sendable {
  /// The owner shares a zone or a tree.
  case share
  /// A user accepts the share.
  case accept
  /// The owner invites a participant, or changes the permission of one.
  case permit
  /// The owner removes a participant, or makes the share private.
  case revoke
  /// A participant deletes the share in its shared database.
  case leave
  /// The owner deletes the share.
  case unshare
}
