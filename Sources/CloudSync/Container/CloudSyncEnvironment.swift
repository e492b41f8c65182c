public import CloudProtocol
public import Foundation
import Synchronization

/// The configuration of containers that are created without a transport.
///
/// By default the process's environment variables determine the server; without them containers use
/// a server in the process, if one is linked (the `CloudKit` product contains it). A container
/// keeps the environment that is current when it is created.
///
/// ```swift
/// let tablet = CloudSyncEnvironment { _ in server.device("tablet", signedInAs: "alice") }
/// try await CloudSyncEnvironment.$current.withValue(tablet) { try await AppSync().sync() }
/// ```
public struct CloudSyncEnvironment: Sendable {
  private static let processWide = Mutex(
    CloudSyncEnvironment(variables: ProcessInfo.processInfo.environment))

  /// The environment of the current task and its child tasks, for tests; `nil` uses the process's
  /// environment.
  @TaskLocal public static var current: CloudSyncEnvironment?

  /// The environment of all other tasks, by default made from the environment variables.
  ///
  /// Existing containers keep theirs.
  public static var process: CloudSyncEnvironment {
    get { processWide.withLock { $0 } }
    set { processWide.withLock { $0 = newValue } }
  }

  /// The current environment.
  static var inForce: CloudSyncEnvironment { current ?? process }

  /// The executor of the tasks of containers in this environment: of their engines, operations and
  /// completion handlers; `nil` for the default one.
  public var taskExecutor: (any TaskExecutor)?

  /// The clock that times the delays of engines in this environment whose configuration has none;
  /// `nil` for the continuous clock.
  ///
  /// A test sets it for an app that is written with CloudKit's API alone.
  public var clock: (any Clock<Duration>)?

  /// The notification center to which containers of this environment post account changes.
  ///
  /// The default center unless set, as with Apple's CloudKit. Processes with several environments
  /// can use one for each.
  public var notificationCenter = NotificationCenter.default

  private let find: @Sendable (String) throws -> any CloudTransport

  /// Shared by all copies, so that `CKContainer.default()` is one object in each environment.
  private let containerCache = ContainerCache()

  private final class ContainerCache: Sendable {
    let container = Mutex<CKContainer?>(nil)
  }

  /// Creates an environment that supplies transports.
  ///
  /// - Parameter transport: Returns the transport for a container's identifier. It is called once
  ///   for each `CKContainer`, at its first request, from any thread; a transport represents a
  ///   device.
  public init(transport: @escaping @Sendable (_ container: String) -> any CloudTransport) {
    find = transport
  }

  /// Creates the environment of a process with these environment variables.
  ///
  /// The variables are `CLOUDSYNC_SERVER` (the file of the server in the process, which several
  /// processes can share, or the URL of an HTTP server, with `CLOUDSYNC_API_TOKEN` and
  /// `CLOUDSYNC_WEB_AUTH_TOKEN` or `CLOUDSYNC_CONTROL_TOKEN`), `CLOUDSYNC_ACCOUNT` (the signed-in
  /// account; `default` if absent, none if empty) and `CLOUDSYNC_DEVICE` (the name of this device).
  public init(variables: [String: String]) {
    self.init(variables: variables) {
      NSClassFromString("CloudKit.EmbeddedCloud") as? any CloudProvider.Type
    }
  }

  /// Creates an environment whose in-process server is supplied by `provider`.
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
          brings a server in the process and reads the CLOUDSYNC_ variables (without it they have \
          no effect), create the container with \
          CKContainer(identifier:transport:), or set CloudSyncEnvironment.process before its \
          first request.
          """)
      }
      return try provider.transport(for: container, variables: variables)
    }
  }

  /// The transport for `container`.
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

/// Supplies the in-process server for containers without a transport.
///
/// It is found by its class name, so that this library does not depend on a server.
package protocol CloudProvider: AnyObject {
  /// Returns the transport for `container` in a process with the environment `variables`.
  static func transport(
    for container: String, variables: [String: String]
  ) throws -> any CloudTransport
}
