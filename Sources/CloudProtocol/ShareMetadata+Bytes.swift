public import Records

/// The binary form of a share's description, for archives and for the server's file.
extension ByteWriter {
  /// Appends what can be known of a share before joining it.
  public mutating func write(_ metadata: ShareMetadata) {
    write(metadata.container)
    write(metadata.share)
    write(optional: metadata.rootID) { $0.write($1) }
    write(optional: metadata.root) { $0.write($1) }
    write(metadata.owner)
    write(metadata.role.rawValue)
    write(metadata.acceptance.rawValue)
    write(metadata.permission.rawValue)
  }
}

extension ByteReader {
  /// What can be known of a share before joining it.
  public mutating func shareMetadata() throws(ByteFormatError) -> ShareMetadata {
    let container = try string()
    let share = try record()
    let rootID = try optional { (reader) throws(ByteFormatError) in try reader.recordID() }
    let root = try optional { (reader) throws(ByteFormatError) in try reader.record() }
    let owner = try userIdentity()
    let unknown = "the form of a share's metadata is unknown"
    let role: ShareRole = try enumeration(unknown)
    let acceptance: ShareAcceptance = try enumeration(unknown)
    return ShareMetadata(
      container: container, share: share, rootID: rootID, root: root, owner: owner, role: role,
      acceptance: acceptance, permission: try enumeration(unknown))
  }
}
