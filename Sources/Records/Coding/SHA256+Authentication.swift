extension SHA256 {
  /// The 32 bytes by which whoever knows `key` can tell that `message` is theirs.
  ///
  /// Source: RFC 2104, with SHA-256.
  public static func authenticationCode(
    of message: some Sequence<UInt8>, key: [UInt8]
  ) -> [UInt8] {
    var block = key
    if block.count > 64 { block = SHA256.digest(of: block) }
    block += repeatElement(0, count: 64 - block.count)
    var inner = SHA256()
    inner.update(block.map { $0 ^ 0x36 })
    inner.update(message)
    var outer = SHA256()
    outer.update(block.map { $0 ^ 0x5c })
    outer.update(inner.digest())
    return outer.digest()
  }
}
