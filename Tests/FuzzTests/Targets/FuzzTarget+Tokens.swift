import CloudProtocol
import Records

@testable import CloudMachine
@testable import LoopbackHTTP

extension FuzzTarget {
  /// Change tokens, cursors of queries, and what the server seals for browsers.
  static let tokens = FuzzTarget(name: "tokens") { input, planted in
    var input = input
    let kind = input.choice(6)
    switch kind {
    case 0, 1:
      let feed = TokenWorld.feeds[input.choice(TokenWorld.feeds.count)]
      try examine(position: input.rest, in: feed, isBare: kind == 0, planted)
    case 2, 3: try examine(cursor: input.rest, isBare: kind == 2, planted)
    case 4:
      try check(
        TokenWorld.signer.verify(input.text, .webToken) { (r) throws(ByteFormatError) in
          try r.string()
        } == nil, "a seal that nobody put there")
    default:
      let content = input.rest
      let token = TokenWorld.signer.sign(.upload) { $0.write(raw: content) }
      let opened = TokenWorld.signer.verify(token, .upload) { (r) throws(ByteFormatError) in
        Array(try r.raw(r.remaining))
      }
      let isShort = token.utf8.count <= 4096
      try check(opened == (isShort ? content : nil), "a seal that does not open")
      let other = TokenWorld.signer.verify(token, .webToken) { (r) throws(ByteFormatError) in
        Array(try r.raw(r.remaining))
      }
      try check(other == nil, "a seal for something else")
    }
  }

  private static func examine(
    position bytes: [UInt8], in feed: FeedPosition.Feed, isBare: Bool, _ planted: Bool
  ) throws {
    var token = ChangeToken(bytes: bytes)
    if !isBare {
      // All that binds a token to its feed, then what the input says, then the right checksum.
      let own = FeedPosition(sequence: 0).token(of: feed).bytes
      let numbers = feed.isVisit ? 4 : 2
      var writer = ByteWriter()
      writer.write(raw: Array(own.dropLast(4 + numbers)))
      writer.write(raw: bytes)
      writer.write(fixed: Checksum.of(writer.bytes))
      token = ChangeToken(bytes: writer.bytes)
    }
    guard let position = FeedPosition(token, of: feed) else { return }
    try plant(planted, withUnsafeBytes(of: position.sequence) { Array($0) })
    try check(!isBare, "a token that nobody gave")
    try check(position.token(of: feed) == token, "a token with two forms")
    for other in TokenWorld.feeds where other != feed {
      try check(FeedPosition(token, of: other) == nil, "a token of another feed")
    }
  }

  private static func examine(cursor bytes: [UInt8], isBare: Bool, _ planted: Bool) throws {
    var cursor = QueryCursor(bytes: bytes)
    if !isBare {
      var writer = ByteWriter()
      writer.write(UInt8(1))
      writer.write(raw: TokenWorld.binding)
      writer.write(raw: bytes)
      writer.write(fixed: Checksum.of(writer.bytes))
      cursor = QueryCursor(bytes: writer.bytes)
    }
    guard let position = QueryPosition(cursor, of: TokenWorld.binding) else { return }
    try plant(planted, position.id.name.utf8)
    try check(position.cursor(of: TokenWorld.binding) == cursor, "a cursor with two forms")
    let other = QueryPosition(cursor, of: TokenWorld.binding.reversed())
    try check(other == nil, "a cursor of another query")
  }
}

private enum TokenWorld {
  static let signer = TokenSigner(key: [1, 2, 3])

  static let binding: [UInt8] = (0..<32).map { $0 }

  static let feeds: [FeedPosition.Feed] = {
    let own = DatabaseID(
      container: "iCloud.a", environment: .development, scope: .private, owner: UserID("_a"))
    let shared = DatabaseID(
      container: "iCloud.a", environment: .development, scope: .shared, owner: UserID("_a"))
    let zone = ZoneRow(id: ZoneID(name: "Notes"), incarnation: 7, changedAt: 9)
    return [
      FeedPosition.Feed(storage: 1, database: own, incarnation: 2, zone: nil),
      FeedPosition.Feed(storage: 1, database: own, incarnation: 2, zone: zone),
      FeedPosition.Feed(storage: 2, database: own, incarnation: 2, zone: zone),
      FeedPosition.Feed(storage: 1, database: shared, incarnation: 2, zone: nil),
      FeedPosition.Feed(storage: 1, database: shared, incarnation: 2, zone: zone),
    ]
  }()
}
