import Foundation
import Testing

@testable import LoopbackServer

/// The places every scenario runs on.
enum PlaceKind: String, CaseIterable, CustomTestStringConvertible, Sendable {
  case machine = "the bare machine"
  case memoryServer = "a server in memory"
  case fileServer = "a server on a file"
  case webServerInMemory = "a server in memory, over HTTP"
  case webServerOnFile = "a server on a file, over HTTP"

  var testDescription: String { rawValue }

  func open() throws -> any Place {
    switch self {
    case .machine: return MachinePlace()
    case .memoryServer:
      return ServerPlace(LoopbackServer(clock: tickingClock(), limits: smallLimits()))
    case .fileServer:
      let folder = try TemporaryFolder()
      let server = try LoopbackServer(
        path: folder.path("cloud.db"), clock: tickingClock(), limits: smallLimits())
      return ServerPlace(server) { folder.remove() }
    case .webServerInMemory:
      return try WebPlace(LoopbackServer(clock: tickingClock(), limits: smallLimits()))
    case .webServerOnFile:
      let folder = try TemporaryFolder()
      let server = try LoopbackServer(
        path: folder.path("cloud.db"), clock: tickingClock(), limits: smallLimits())
      return try WebPlace(server) { folder.remove() }
    }
  }
}

/// A folder of the test's own.
struct TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("transport-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
  }

  func remove() { try? FileManager.default.removeItem(at: url) }
}
