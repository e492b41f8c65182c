public import CloudProtocol
public import Foundation
import Synchronization

/// How containers that are created without a transport find their server.
///
/// By default as the process's environment variables say, by a server in the process itself, where
/// one is linked (the `CloudKit` product brings it).
/// A container keeps the environment that is in force when it is created.
///
/// ```swift
/// let tablet = CloudSyncEnvironment { _ in server.device("tablet", signedInAs: "alice") }
/// try await CloudSyncEnvironment.$current.withValue(tablet) { try await App().sync() }
/// ```
public struct CloudSyncEnvironment: Sendable {
  private static let processWide = Mutex(
    CloudSyncEnvironment(variables: ProcessInfo.processInfo.environment))

  /// The environment of the running task and of the tasks it starts, for tests; `nil` for the
  /// process's.
  @TaskLocal public static var current: CloudSyncEnvironment?

  /// The environment of all tasks that have none of their own; made from the environment variables
  /// unless set.
  ///
  /// Containers that exist keep theirs.
  public static var process: CloudSyncEnvironment {
    get { processWide.withLock { $0 } }
    set { processWide.withLock { $0 = newValue } }
  }

  /// The environment in force.
  static var inForce: CloudSyncEnvironment { current ?? process }

  /// Who runs the tasks that containers of this environment start: of their engines, operations and
  /// completion handlers; `nil` for the system's threads.
  public var taskExecutor: (any TaskExecutor)?

  /// Where containers of this environment post that the account changed.
  ///
  /// The default one unless set, as with Apple's. Who runs several worlds in one process gives each
  /// its own.
  public var notificationCenter = NotificationCenter.default

  private let find: @Sendable (String) throws -> any CloudTransport

  /// Shared by all copies, so that `CKContainer.default()` is one object in each environment.
  private let containerCache = ContainerCache()

  private final class ContainerCache: Sendable {
    let container = Mutex<CKContainer?>(nil)
  }

  /// An environment in which containers are reached as `transport` says.
  ///
  /// - Parameter transport: gives the way to a server for a container's identifier. It is called
  ///   once for each `CKContainer`, at its first request, from any thread; the same transport
  ///   stands for the same device.
  public init(transport: @escaping @Sendable (_ container: String) -> any CloudTransport) {
    find = transport
  }

  /// An environment as a process with these environment variables would have it.
  ///
  /// Read are `CLOUDSYNC_SERVER` (a file the server in the process keeps everything in, which
  /// several processes may share, or the URL of a server by HTTP, with `CLOUDSYNC_API_TOKEN` and
  /// `CLOUDSYNC_WEB_AUTH_TOKEN` or `CLOUDSYNC_CONTROL_TOKEN`),
  /// `CLOUDSYNC_ACCOUNT` (the account signed in there; `default` when
  /// absent, nobody when empty) and `CLOUDSYNC_DEVICE` (this device's name there).
  public init(variables: [String: String]) {
    self.init(variables: variables) {
      NSClassFromString("CloudKit.EmbeddedCloud") as? any CloudProvider.Type
    }
  }

  /// An environment in which the server in the process is what `provider` finds.
  package init(
    variables: [String: String],
    provider: @escaping @Sendable () -> (any CloudProvider.Type)?
  ) {
    find = { container in
      guard let provider = provider() else {
        throw CKError(
          .badContainer,
          """
          The container "\(container)" has no server to talk to. Link the CloudKit product, which \
          brings a server in the process, create the container with \
          CKContainer(identifier:transport:), or set CloudSyncEnvironment.process before its \
          first request.
          """)
      }
      return try provider.transport(for: container, variables: variables)
    }
  }

  /// The way to the server of `container`.
  /// - Throws: `badContainer` when there is none.
  func transport(for container: String) throws(CKError) -> any CloudTransport {
    do { return try find(container) } catch let error as CKError { throw error } catch {
      throw CKError(.badContainer, "\(container) can't be reached: \(error)")
    }
  }

  /// The container of the running program in this environment, always the same object.
  var defaultContainer: CKContainer {
    containerCache.container.withLock { container in
      if let container { return container }
      let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
      let created = CKContainer(identifier: "iCloud.\(program)", in: self)
      container = created
      return created
    }
  }
}

/// Brings a server for containers that name none; found by name, so that this library needs to
/// know no server.
public protocol CloudProvider: AnyObject {
  /// The way to the server of `container`, in a process with the environment `variables`.
  static func transport(
    for container: String, variables: [String: String]
  ) throws -> any CloudTransport
}
