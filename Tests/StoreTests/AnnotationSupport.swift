import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Synchronization
import Testing

@testable import AnnotationStore

/// A device with annotations, a clock on which nobody waits, and a time the test moves.
final class AnnotationDevice: Sendable {
  static let containerName = "iCloud.example.annotations"
  static let start = Date(timeIntervalSinceReferenceDate: 800_000_000)

  let link: LoopbackDevice
  let folder: TemporaryFolder
  let clock = SkippingClock()
  let store: AnnotationStore
  let time: Moment

  /// Starts the app on the device called `name`; with another app's folder it is that one's next
  /// launch.
  init(
    _ server: LoopbackServer, _ name: String, account: String? = "ada",
    folder: TemporaryFolder? = nil, time: Moment = Moment(), batchSize: Int = 100,
    mediaLimit: Int = 1_000_000, recovering: Bool = false
  ) throws {
    let folder = try folder ?? TemporaryFolder()
    self.folder = folder
    self.time = time
    link = server.device(name, signedInAs: account)
    let names = NameMaker(name)
    store = try AnnotationStore(
      directory: folder.url.appendingPathComponent("annotations"),
      container: CKContainer(identifier: Self.containerName, transport: link),
      batchSize: batchSize, mediaLimit: mediaLimit, recovering: recovering, clock: clock,
      now: { time.date }, makeID: { names.next() })
  }

  var titles: [String] { store.annotations().map { $0.title ?? "" }.sorted() }

  /// A file of this device, outside the store.
  func file(_ name: String, _ content: Data) throws -> URL {
    let file = folder.url.appendingPathComponent(name)
    try content.write(to: file)
    return file
  }

  /// The names of the files the store keeps for annotations.
  var mediaFiles: [String] {
    let path = store.media.directory.path
    return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }
}

/// A moment that only a test moves.
final class Moment: Sendable {
  private let state = Mutex((date: AnnotationDevice.start, action: (@Sendable () -> Void)?.none))

  var date: Date {
    let action = state.withLock { state in
      defer { state.action = nil }
      return state.action
    }
    action?()
    return state.withLock { $0.date }
  }

  func advance(_ seconds: Double = 1) { state.withLock { $0.date += seconds } }

  /// Runs `action` when somebody asks for the date next, such as a store in the middle of a step.
  func beforeNextReading(_ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.action = action }
  }
}

/// Makes names: the same ones in the same order in every run, others on every device.
final class NameMaker: Sendable {
  private let state: Mutex<(salt: UInt32, last: UInt64)>

  init(_ device: String) {
    var salt: UInt32 = 0x811c_9dc5
    for byte in device.utf8 { salt = (salt ^ UInt32(byte)) &* 0x0100_0193 }
    state = Mutex((salt, 0))
  }

  func next() -> UUID {
    let (salt, number) = state.withLock { state in
      state.last += 1
      return (state.salt, state.last)
    }
    let head = String(salt, radix: 16)
    let tail = String(number, radix: 16)
    let text =
      String(repeating: "0", count: 8 - head.count) + head + "-0000-4000-8000-"
      + String(repeating: "0", count: 12 - tail.count) + tail
    return UUID(uuidString: text) ?? UUID()
  }
}

/// Two devices of one account with a layer and one annotation on it that both have.
struct AnnotationPair {
  let server = LoopbackServer()
  let time = Moment()
  let phone: AnnotationDevice
  let desk: AnnotationDevice
  let layer: UUID
  let note: UUID

  init(_ strategy: ConflictStrategy = .lastWriteWins) async throws {
    phone = try AnnotationDevice(server, "phone", time: time)
    desk = try AnnotationDevice(server, "desk", time: time)
    try phone.store.setStrategy(strategy)
    try desk.store.setStrategy(strategy)
    layer = try phone.store.addLayer(named: "House").id
    note = try phone.store.add(
      .init(title: "Door", text: "green", position: [1, 2, 3]), to: layer
    ).id
    try await phone.store.sync()
    try await desk.store.sync()
    time.advance()
  }

  /// Syncs both until nothing can be left.
  func settle() async throws {
    for _ in 0..<2 {
      try await phone.store.sync()
      try await desk.store.sync()
    }
  }

  var isSame: Bool { phone.store.canonicalLines == desk.store.canonicalLines }
}

extension ZoneID {
  static let annotations = ZoneID(name: "AnnotationsZone")
}

extension LoopbackServer {
  /// The records of an account's own annotations, by type and name.
  func annotations(of account: String = "ada") throws -> [Record] {
    try records(
      in: .annotations, container: AnnotationDevice.containerName, account: account)
  }

  /// A database of an account, as an app of another version would use it.
  func annotationDatabase(_ account: String = "ada") -> CKDatabase {
    CKContainer(
      identifier: AnnotationDevice.containerName,
      transport: device("other app of \(account)", signedInAs: account)
    ).privateCloudDatabase
  }
}

/// An uncompressed picture in the BMP format, made of its size and one color.
func picture(width: Int, height: Int, red: UInt8, green: UInt8, blue: UInt8) -> Data {
  let row = (width * 3 + 3) / 4 * 4
  func bytes(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
  var data = Data("BM".utf8)
  data.append(contentsOf: bytes(54 + row * height, 4) + bytes(0, 4) + bytes(54, 4))
  data.append(
    contentsOf: bytes(40, 4) + bytes(width, 4) + bytes(height, 4) + bytes(1, 2) + bytes(24, 2))
  data.append(contentsOf: bytes(0, 4) + bytes(row * height, 4) + [UInt8](repeating: 0, count: 16))
  let line =
    [[UInt8]](repeating: [blue, green, red], count: width).flatMap(\.self)
    + [UInt8](repeating: 0, count: row - width * 3)
  for _ in 0..<height { data.append(contentsOf: line) }
  return data
}
