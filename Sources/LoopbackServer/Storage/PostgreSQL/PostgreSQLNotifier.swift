#if PostgreSQL
  import CloudMachine
  import Dispatch
  import Foundation
  import PostgreSQL
  import Records
  import Synchronization

  /// Notifications through the database, with `LISTEN` and `NOTIFY`.
  ///
  /// They are sent behind the transactions, several at once: within a transaction each would wait
  /// for a lock of the whole database server.
  final class PostgreSQLNotifier: ChangeNotifier {
    private let address: String
    /// A line at the beginning of each payload of this server.
    private let signature = String(UInt64.random(in: 0...(.max)), radix: 16)
    private let state = Mutex(State())
    private let listening = DispatchGroup()
    private let sending = DispatchQueue(label: "PostgreSQL notifications")

    private struct State {
      var waiting: [DatabaseID] = []
      /// Whether any database may have changed.
      var isAny = false
      var isScheduled = false
      var isClosed = false
      // Used on the queue alone.
      var sender: Connection?
    }

    // The serial queue uses it alone.
    private struct Connection: @unchecked Sendable {
      let value: PostgreSQLConnection
    }

    init(_ address: String) { self.address = address }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    // MARK: Sending

    func send(_ databases: [DatabaseID]) {
      let isNew = state.withLock { state in
        guard !state.isClosed else { return false }
        for id in databases where !state.waiting.contains(id) { state.waiting.append(id) }
        if databases.isEmpty { state.isAny = true }
        defer { state.isScheduled = true }
        return !state.isScheduled
      }
      if isNew { sending.async { self.sendWaiting() } }
    }

    private func sendWaiting() {
      let (waiting, isAny) = state.withLock { state in
        defer { (state.waiting, state.isAny, state.isScheduled) = ([], false, false) }
        return (state.waiting, state.isAny)
      }
      // The others find out at their next check what could not be sent.
      try? notify(isAny ? [signature] : payloads(of: waiting))
    }

    private func notify(_ payloads: [String]) throws {
      var connection = state.withLock { $0.sender }
      if connection?.value.isClosed != false {
        connection = Connection(value: try PostgreSQLConnection(address, patience: .seconds(5)))
        let isClosed = state.withLock { state in
          if !state.isClosed { state.sender = connection }
          return state.isClosed
        }
        if isClosed { return }
      }
      _ = try connection?.value.run(
        payloads.map {
          PostgreSQLStatement("SELECT pg_notify('cloudsync', $1)", [.text($0)])
        })
    }

    /// The payloads that name databases, each of the length that the database takes.
    private func payloads(of databases: [DatabaseID]) -> [String] {
      var payloads: [String] = []
      for id in databases {
        let line =
          "\n\(id.container) \(id.environment.rawValue) \(id.scope.rawValue) "
          + (id.owner?.rawValue ?? "")
        if let last = payloads.last, last.utf8.count + line.utf8.count < 8_000 {
          payloads[payloads.count - 1] += line
        } else {
          payloads.append(signature + line)
        }
      }
      return payloads
    }

    // MARK: Listening

    func listen(_ handler: @escaping @Sendable ([DatabaseID]) -> Void) {
      listening.enter()
      Thread.detachNewThread { [weak self, listening] in
        defer { listening.leave() }
        var connection: PostgreSQLConnection?
        var silence = 0
        while let notifier = self, !notifier.isClosed {
          do {
            if connection == nil {
              let new = try PostgreSQLConnection(notifier.address, patience: .seconds(5))
              try new.execute(["LISTEN cloudsync"])
              connection = new
              // What happened before is not told.
              handler([])
            }
            let payloads = try connection?.notifications(within: .seconds(1)) ?? []
            silence = payloads.isEmpty ? silence + 1 : 0
            if silence == 10 {
              // A network may have dropped the connection without telling.
              try connection?.execute(["SELECT 1"])
              silence = 0
            }
            for payload in payloads where !payload.hasPrefix(notifier.signature) {
              handler(PostgreSQLNotifier.databases(in: payload))
            }
          } catch {
            connection = nil
            Thread.sleep(forTimeInterval: 0.5)
          }
        }
      }
    }

    private static func databases(in payload: String) -> [DatabaseID] {
      payload.split(separator: "\n").dropFirst().compactMap { line in
        let parts = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, let scope = Int64(parts[2]) else { return nil }
        return try? DatabaseID(
          container: parts[0], environment: parts[1], scope: scope, owner: parts[3])
      }
    }

    func close() {
      let isOpen = state.withLock { state in
        defer { state.isClosed = true }
        return !state.isClosed
      }
      // The thread that listens hears of the end at once.
      if isOpen { sending.sync { try? notify([signature]) } }
      _ = listening.wait(timeout: .now() + 2)
      state.withLock { $0.sender = nil }
    }
  }
#endif
