import Foundation
import Testing

@testable import LoopbackServer

#if PostgreSQL
  import VerificationSupport
#endif

/// The services every scenario runs on.
enum ServiceKind: String, CaseIterable, CustomTestStringConvertible, Sendable {
  case machine = "the bare machine"
  case memoryServer = "a server in memory"
  case fileServer = "a server on a file"
  case webServerInMemory = "a server in memory, over HTTP"
  case webServerOnFile = "a server on a file, over HTTP"
  #if PostgreSQL
    case postgreSQLServer = "a server on PostgreSQL"
  #endif

  var testDescription: String { rawValue }

  func open() throws -> any TestedService {
    switch self {
    case .machine: return MachineService()
    case .memoryServer:
      return LoopbackService(LoopbackServer(clock: tickingClock(), limits: smallLimits()))
    case .fileServer:
      let folder = try TemporaryFolder()
      let server = try LoopbackServer(
        path: folder.path("cloud.db"), clock: tickingClock(), limits: smallLimits())
      return LoopbackService(server) { folder.remove() }
    case .webServerInMemory:
      return try WebService(LoopbackServer(clock: tickingClock(), limits: smallLimits()))
    case .webServerOnFile:
      let folder = try TemporaryFolder()
      let server = try LoopbackServer(
        path: folder.path("cloud.db"), clock: tickingClock(), limits: smallLimits())
      return try WebService(server) { folder.remove() }
    #if PostgreSQL
      case .postgreSQLServer:
        let database = try TemporaryDatabase()
        let server = try LoopbackServer(
          postgreSQL: database.address, clock: tickingClock(), limits: smallLimits())
        return LoopbackService(server) { _ = database }
    #endif
    }
  }
}

/// Data that several servers use at once.
enum SharedData: String, CaseIterable, CustomTestStringConvertible, Sendable {
  case file = "a file"
  #if PostgreSQL
    case postgreSQL = "PostgreSQL"
  #endif

  var testDescription: String { rawValue }

  /// Whether a request notices changes by other servers before it is answered.
  var looksAtRequests: Bool { self == .file }

  /// Creates empty data: opens a server on them at each call of `open`, and says what is left of
  /// them; nothing is right.
  func make() throws -> (open: () throws -> LoopbackServer, leftOver: () -> [String]) {
    switch self {
    case .file:
      let folder = try TemporaryFolder()
      return (
        { try LoopbackServer(path: folder.path("cloud.db"), clock: tickingClock()) },
        {
          defer { folder.remove() }
          return folder.names == ["cloud.db"] ? [] : folder.names
        }
      )
    #if PostgreSQL
      case .postgreSQL:
        let database = try TemporaryDatabase()
        return (
          {
            try LoopbackServer(
              postgreSQL: database.address, notifies: false, clock: tickingClock())
          },
          { database.otherConnections }
        )
    #endif
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
