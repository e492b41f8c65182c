/// The actions of users on shares.
enum SharingAction: String, CaseIterable, Sendable {
  /// The owner shares a zone or a tree.
  case share
  /// Somebody joins.
  case accept
  /// The owner invites somebody, or changes what somebody may do.
  case permit
  /// The owner takes somebody out, or closes the share.
  case revoke
  /// A participant deletes the share in its shared database.
  case leave
  /// The owner deletes the share.
  case unshare
}
