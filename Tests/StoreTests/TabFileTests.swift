import CloudSync
import Foundation
import Testing

@testable import SyncSupport
@testable import SyncedStore
@testable import TabStore

@Suite("Row T: the files of the stores")
struct TabFileTests {
  /// Proves I20.
  @Test("T: Every damaged byte and every missing end of a file is detected, and the file is kept")
  func damagedTabFileIsDetectedAndKept() throws {
    let folder = try TemporaryFolder()
    try TabStore(directory: folder.url).add(testTab(1, "content"))
    let url = folder.url.appendingPathComponent("cloud-record-metadata.json")
    let good = try Data(contentsOf: url)
    let header = Data("synced-items 2\n".utf8)
    #expect(good.starts(with: header))
    // Without its end the last line is a write that a crash interrupted, and was not acknowledged.
    for count in header.count..<good.count {
      try good.prefix(count).write(to: url)
      #expect(try TabStore(directory: folder.url).tabs.isEmpty)
    }
    var damaged = (0..<header.count).map { good.prefix($0) }
    for position in good.indices.dropLast() {
      var copy = good
      copy[position] ^= 0x04
      damaged.append(copy)
    }
    for data in damaged {
      try data.write(to: url)
      #expect(throws: FileError.self, "\(String(decoding: data, as: UTF8.self))") {
        try TabStore(directory: folder.url)
      }
      #expect(try Data(contentsOf: url) == data)
    }
    let newer = String(decoding: good, as: UTF8.self)
      .replacingOccurrences(of: "synced-items 2", with: "synced-items 3")
    try Data(newer.utf8).write(to: url)
    #expect(throws: FileError.self) { try TabStore(directory: folder.url) }
  }

  /// Proves TH-17.
  @Test("Equal tabs give equal bytes, and a file is accessible to its owner only")
  func equalTabsGiveEqualBytes() throws {
    let folders = try [TemporaryFolder(), TemporaryFolder()]
    let files = try folders.map { folder in
      let store = try TabStore(directory: folder.url)
      try store.add((1...40).map { testTab($0) })
      return try Data(contentsOf: folder.url.appendingPathComponent("cloud-record-metadata.json"))
    }
    #expect(files[0] == files[1])
    let path = folders[0].url.appendingPathComponent("cloud-record-metadata.json").path
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  @Test("IDs sort by their bytes in the same order as by their texts")
  func identifiersSortLikeTheirTexts() {
    let ids = (0..<300).map { _ in UUID() }
    #expect(ids.sorted { $0.precedes($1) } == ids.sorted { $0.uuidString < $1.uuidString })
    #expect(!ids[0].precedes(ids[0]))
  }

  @Test("When the disk refuses a write, the local change is undone and an error is reported")
  func refusedWriteUndoesLocalChange() throws {
    let folder = try TemporaryFolder()
    let store = try TabStore(directory: folder.url)
    // A folder in the draft's place: not even the superuser can write it as a file.
    let draft = folder.url.appendingPathComponent("cloud-record-metadata.json.new")
    try FileManager.default.createDirectory(at: draft, withIntermediateDirectories: true)
    #expect(throws: FileError.self) { try store.add(testTab(1, "lost")) }
    #expect(store.tabs == [] && store.unsentCount == 0)
    try FileManager.default.removeItem(at: draft)
    try store.add(testTab(1, "written"))
    #expect(try TabStore(directory: folder.url).tab(testID(1))?.content == "written")
  }

  /// Proves CE-84.
  @Test("The engine's state is never ahead of the tabs on the disk")
  func stateFollowsTabs() async throws {
    let bench = try TabBench()
    bench.run()
    let draft = bench.folder.url.appendingPathComponent("cloud-record-metadata.json.new")
    let stateFile = bench.folder.url.appendingPathComponent("cloud-sync-state.data")
    try FileManager.default.createDirectory(at: draft, withIntermediateDirectories: true)
    bench.fetched([TabBench.record(testTab(1, "remote"))])
    bench.hand(try await TabBench.stateUpdate())
    #expect(!FileManager.default.fileExists(atPath: stateFile.path))
    #expect(bench.sync.status.activity.problems.count == 1)
    try FileManager.default.removeItem(at: draft)
    bench.hand(try await TabBench.stateUpdate())
    #expect(FileManager.default.fileExists(atPath: stateFile.path))
    #expect(bench.sync.status.activity.problems.isEmpty)
    #expect(try TabStore(directory: bench.folder.url).tab(testID(1))?.content == "remote")
  }

  /// Proves FB-7.
  @Test("A damaged engine state is refused with a clear error and left unchanged")
  func damagedEngineStateIsRefusedUnchanged() throws {
    let bench = try TabBench()
    let file = bench.folder.url.appendingPathComponent("cloud-sync-state.data")
    for text in ["", "{}", "{\"data\":\"AAAA\"}", "garbage"] {
      try Data(text.utf8).write(to: file)
      #expect(throws: FileError.self, "\(text)") { try bench.sync.start() }
      #expect(try Data(contentsOf: file) == Data(text.utf8))
      #expect(!bench.sync.status.isRunning)
    }
  }
}
