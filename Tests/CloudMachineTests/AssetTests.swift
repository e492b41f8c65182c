import CloudMachine
import CloudProtocol
import Records
import Testing
import VerificationSupport

/// Files: brought for a receipt, put into records, read back, and gone when nothing names them.
///
/// Rules: CS-36 to CS-43, WS-83 to WS-86, scenario `basics` of Assets.
struct AssetTests {
  private static let content: [UInt8] = Array("content".utf8)
  private static let checksum = SHA256.hexadecimal(of: content)

  private static func upload(
    _ world: World, _ content: [UInt8] = content, type: String = "Note", key: String = "file",
    as caller: Caller? = nil, in scope: DatabaseScope = .private, requestID: String? = nil
  ) throws -> Asset {
    let request = UploadAsset(recordType: type, key: key, content: content)
    let answer = try world.ask(
      .uploadAsset(request), as: caller, in: scope, requestID: requestID)
    guard case .assetUploaded(let asset) = try answer.reply() else { throw Unexpected() }
    return asset
  }

  private static func download(
    _ world: World, _ name: String, _ checksum: String = checksum, key: String = "file",
    zone: ZoneID = World.zone, as caller: Caller? = nil, in scope: DatabaseScope = .private
  ) throws -> String {
    let request = DownloadAsset(record: id(name, zone), key: key, checksum: checksum)
    return try world.say(.downloadAsset(request), as: caller, in: scope)
  }

  private func isKept(_ world: World, _ checksum: String = checksum) throws -> Bool {
    try world.storage.assetContent(checksum) != nil
  }

  /// Proves S7, SC-59.
  @Test("An asset is stored by content hash, without receipt or path; replacing it makes a new one")
  func assetIsStoredByContentHash() throws {
    let world = try World()
    var asset = try AssetTests.upload(world)
    #expect(asset.checksum == AssetTests.checksum && asset.size == 7 && asset.receipt != nil)
    asset.location = "/tmp/mine"
    #expect(try world.modify([fresh("a", ["file": .asset(asset)])]) == "+a ok")
    let stored = FieldValue.asset(Asset(checksum: AssetTests.checksum, size: 7))
    #expect(try world.stored("a")?.fields["file"]?.value == stored)
    #expect(try world.page().modified.first?.fields["file"]?.value == stored)
    #expect(try AssetTests.download(world, "a") == "content 7")
    let request = DownloadAsset(record: id("a"), key: "file", checksum: AssetTests.checksum)
    #expect(
      try world.ask(.downloadAsset(request)).reply()
        == .assetContent(AssetContent(AssetTests.content)))
    let other = try AssetTests.upload(world, [1, 2, 3])
    #expect(other.checksum != asset.checksum)
    #expect(try world.modify([world.edit("a", ["file": .asset(other)])]) == "+a ok")
    #expect(try AssetTests.download(world, "a") == "! assetNotAvailable")
    #expect(try AssetTests.download(world, "a", other.checksum) == "content 3")
    let empty = try AssetTests.upload(world, [], key: "none")
    #expect(try world.modify([world.edit("a", ["none": .asset(empty)])]) == "+a ok")
    #expect(try AssetTests.download(world, "a", empty.checksum, key: "none") == "content 0")
  }

  /// Proves CS-40, S7.
  @Test("A save needs an upload receipt for its field, unless the record already has the file")
  func assetSaveRequiresReceiptForField() throws {
    let world = try World()
    let asset = try AssetTests.upload(world)
    let bare = FieldValue.asset(Asset(checksum: asset.checksum, size: 7))
    func altered(_ change: (inout Asset) -> Void) -> FieldValue {
      var copy = asset
      change(&copy)
      return .asset(copy)
    }
    let rows: [(RecordSave, String)] = [
      (fresh("a", ["file": bare]), "invalidArguments"),
      (fresh("a", ["other": .asset(asset)]), "invalidArguments"),
      (fresh("a", ["file": .asset(asset)], type: "Pic"), "invalidArguments"),
      (fresh("a", ["file": altered { $0.checksum = "00" }]), "invalidArguments"),
      (fresh("a", ["file": altered { $0.receipt = "made up" }]), "assetNotAvailable"),
      (fresh("a", ["file": .list([.asset(asset), bare])]), "invalidArguments"),
      (fresh("a", ["file": altered { $0.size = 999 }]), "ok"),
    ]
    for (save, words) in rows {
      #expect(try world.modify([save]) == "+a \(words)")
      if words != "ok" { #expect(try world.stored("a") == nil) }
    }
    #expect(try world.stored("a")?.fields["file"]?.value == bare, "the size is the server's word")
    #expect(try world.modify([fresh("b", ["file": bare])]) == "+b invalidArguments")
    #expect(try world.modify([world.edit("a", ["file": bare])]) == "+a ok", "it has it")
    #expect(
      try world.modify([world.edit("a", ["copy": bare])]) == "+a ok", "under any field")
    #expect(try world.modify([fresh("b", ["file": .asset(asset)])]) == "+b ok", "till it is old")
    #expect(
      try world.modify([fresh("c", ["file": .asset(asset)])], as: world.stranger)
        == "+c invalidArguments")
    var secret = fresh("d")
    secret.changes = [.init(key: "s", field: Field(.asset(asset), isEncrypted: true))]
    #expect(try world.modify([secret]) == "+d invalidArguments")
    let elsewhere = try world.ask(
      .modifyRecords(ModifyRecords(save: [fresh("e", ["file": .asset(asset)], zone: .default)])),
      environment: .production)
    #expect(elsewhere.result.words == "+e invalidArguments")
    let listed = try AssetTests.upload(world, key: "files")
    let second = try AssetTests.upload(world, [9], key: "files")
    #expect(
      try world.modify([fresh("f", ["files": .list([.asset(listed), .asset(second)])])])
        == "+f ok")
    #expect(try AssetTests.download(world, "f", second.checksum, key: "files") == "content 1")
  }

  /// Proves CS-41.
  @Test("A file can be read by every user who may read its record")
  func fileIsReadableByRecordReaders() throws {
    let world = try World()
    let asset = try AssetTests.upload(world)
    _ = try world.modify([fresh("a", ["file": .asset(asset)])])
    #expect(try AssetTests.download(world, "a", as: world.laptop) == "content 7")
    #expect(try AssetTests.download(world, "a", as: world.stranger) == "! unknownItem")
    #expect(try AssetTests.download(world, "a", as: world.guest) == "! notAuthenticated")
    #expect(try AssetTests.download(world, "x") == "! unknownItem")
    #expect(try AssetTests.download(world, "a", key: "other") == "! assetNotAvailable")
    #expect(try AssetTests.download(world, "a", "00") == "! assetNotAvailable")
    #expect(try AssetTests.download(world, "a", zone: ZoneID(name: "N")) == "! zoneNotFound")
    let open = try AssetTests.upload(world, in: .public)
    _ = try world.modify([fresh("p", ["file": .asset(open)], zone: .default)], in: .public)
    #expect(
      try AssetTests.download(world, "p", zone: .default, as: world.guest, in: .public)
        == "content 7")
    #expect(
      try world.say(
        .uploadAsset(UploadAsset(recordType: "N", key: "k", content: [])), as: world.guest,
        in: .public)
        == "! notAuthenticated")
  }

  /// Proves CS-43, CS-135.
  @Test("An upload is limited by file size, name rules and the account's quota")
  func uploadRespectsSizeNameAndQuotaLimits() throws {
    var limits = CloudLimits()
    limits.assetBytes = 10
    let world = try World(limits: limits)
    func say(_ count: Int, type: String = "Note", key: String = "file") throws -> String {
      let content = [UInt8](repeating: 1, count: count)
      return try world.say(
        .uploadAsset(UploadAsset(recordType: type, key: key, content: content)))
    }
    #expect(try say(10) == "asset 10")
    #expect(try say(11) == "! limitExceeded")
    #expect(try say(1, type: "my type") == "! invalidArguments")
    #expect(try say(1, key: "_x") == "! invalidArguments")
    try world.machine.setQuota(30, of: world.alice, in: world.storage)
    let asset = try AssetTests.upload(world)
    #expect(try world.modify([fresh("a", ["file": .asset(asset)])]) == "+a ok")
    #expect(try world.storage.database(world.database)?.byteCount == 1 + 4 + 4 + 7)
    #expect(
      try world.modify([fresh("b", ["file": .asset(asset)])]) == "+b quotaExceeded",
      "each record counts its own")
    try world.machine.setQuota(20, of: world.alice, in: world.storage)
    #expect(try say(5) == "! quotaExceeded", "it could never be saved")
    #expect(try say(4) == "asset 4")
    #expect(try world.modify(delete: [id("a")]) == "-a ok")
    #expect(try world.storage.database(world.database)?.byteCount == 0)
    #expect(try world.modify([fresh("b", ["file": .asset(asset)])]) == "+b ok")
  }

  /// Proves CS-39, CS-40.
  @Test("Content is deleted with the last record or receipt that refers to it")
  func contentIsDeletedWithLastReference() throws {
    let world = try World()
    let asset = try AssetTests.upload(world)
    _ = try world.modify([fresh("a", ["file": .asset(asset)]), fresh("b", ["file": .asset(asset)])])
    _ = try world.modify(delete: [id("a"), id("b")])
    #expect(try isKept(world), "the receipt is still good")
    #expect(try world.modify([fresh("a", ["file": .asset(asset)])]) == "+a ok")
    world.now.secondsSinceReferenceDate += world.machine.limits.uploadSeconds
    #expect(
      try world.modify([fresh("b", ["file": .asset(asset)])]) == "+b assetNotAvailable",
      "the receipt is too old")
    try world.machine.forgetOldUploads(now: world.now, in: world.storage)
    #expect(try isKept(world), "a record has it")
    let mine = FieldValue.asset(Asset(checksum: asset.checksum, size: 7))
    _ = try world.modify([world.edit("a", ["file": mine, "copy": mine])])
    var save = try world.edit("a")
    save.changes = [.init(key: "file", field: nil)]
    _ = try world.modify([save])
    #expect(try isKept(world), "in another field")
    save = try world.edit("a")
    save.changes = [.init(key: "copy", field: nil)]
    _ = try world.modify([save])
    #expect(try !isKept(world))
    // Nobody redeems this one; the next upload finds it too old.
    let unused = try AssetTests.upload(world, [1])
    world.now.secondsSinceReferenceDate += world.machine.limits.uploadSeconds
    #expect(try isKept(world, unused.checksum))
    let last = try AssetTests.upload(world, [2])
    #expect(try !isKept(world, unused.checksum))
    // A zone takes its files along.
    _ = try world.modify([fresh("z", ["file": .asset(last)])])
    world.now.secondsSinceReferenceDate += world.machine.limits.uploadSeconds
    try world.machine.forgetOldUploads(now: world.now, in: world.storage)
    #expect(try isKept(world, last.checksum))
    _ = try world.say(.modifyZones(ModifyZones(delete: [World.zone])))
    #expect(try !isKept(world, last.checksum))
  }

  /// Proves I7.
  @Test("A repeated upload request gets the same answer; a failed save redeems no receipt")
  func failedSaveKeepsUploadReceipt() throws {
    let world = try World()
    let first = try AssetTests.upload(world, requestID: "u")
    world.now.secondsSinceReferenceDate += 1
    #expect(try AssetTests.upload(world, requestID: "u") == first)
    #expect(try AssetTests.upload(world).receipt != first.receipt)
    #expect(
      try world.modify([fresh("a", ["file": .asset(first)]), fresh("b", tag: "no")])
        == "+a batchRequestFailed, +b unknownItem")
    #expect(try world.modify([fresh("a", ["file": .asset(first)])]) == "+a ok")
  }

  /// Proves CS-39, S7.
  @Test(
    "Random saves, deletions and elapsed time leave exactly the referenced content",
    arguments: 1...8)
  func randomChangesKeepOnlyReferencedContent(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let world = try World()
    var receipts: [(asset: Asset, at: Double)] = []
    for _ in 0..<150 {
      world.now.secondsSinceReferenceDate += Double(random.below(20_000))
      let name = "r\(random.below(6))"
      switch random.below(5) {
      case 0, 1:
        receipts.append(
          (
            try AssetTests.upload(world, [UInt8(random.below(5))]),
            world.now.secondsSinceReferenceDate
          ))
      case 2: _ = try world.modify(delete: [id(name)])
      default:
        guard !receipts.isEmpty else { continue }
        let asset = receipts[random.below(receipts.count)].asset
        _ = try world.modify([fresh(name, ["file": .asset(asset)])], policy: .allKeys)
      }
      try world.machine.forgetOldUploads(now: world.now, in: world.storage)
      let horizon = world.now.secondsSinceReferenceDate - world.machine.limits.uploadSeconds
      receipts.removeAll { $0.at <= horizon }
      var named = Set(receipts.map(\.asset.checksum))
      for name in try world.names() {
        for checksum in try world.stored(name)?.assetChecksums ?? [] { named.insert(checksum) }
      }
      for byte in 0..<5 as Range<UInt8> {
        let checksum = SHA256.hexadecimal(of: [byte])
        guard try isKept(world, checksum) == named.contains(checksum) else {
          Issue.record(
            "seed \(seed): \(byte) is \(named.contains(checksum) ? "lost" : "left over")")
          return
        }
      }
    }
  }
}
