public import CloudProtocol
public import Foundation

/// Whether the device has an account that can be used.
public enum CKAccountStatus: Int, Sendable {
  /// The status could not be determined.
  case couldNotDetermine = 0
  /// An account is signed in.
  case available = 1
  /// An administrator or a parent restricts the account.
  case restricted = 2
  /// No account is signed in.
  case noAccount = 3
  /// An account is signed in but not ready.
  case temporarilyUnavailable = 4
}

/// A container: the three databases of an app and the signed-in account.
///
/// See CS-50 to CS-54. In addition to CloudKit's initializers there is one that takes
/// the transport to a server.
public final class CKContainer: NSObject, Sendable {
  /// The container of the running program, always the same object.
  ///
  /// Its identifier is `iCloud.` and the bundle identifier, or the program's name if there is no
  /// bundle.
  public class func `default`() -> CKContainer { CloudSyncEnvironment.inForce.defaultContainer }

  /// The connection that the container and its databases share.
  package let connection: CloudConnection

  /// The identifier of the container, such as `iCloud.com.example.app`.
  public let containerIdentifier: String?

  /// The private database of the signed-in user.
  public let privateCloudDatabase: CKDatabase
  /// The public database for all users of the app.
  public let publicCloudDatabase: CKDatabase
  /// The shared database: records that other users shared with the signed-in user.
  public let sharedCloudDatabase: CKDatabase

  /// The defaults set by `configuredWith`.
  let defaults: OperationDefaults

  /// Creates a container with settings for its calls.
  init(connection: CloudConnection, defaults: OperationDefaults = OperationDefaults()) {
    self.connection = connection
    self.defaults = defaults
    containerIdentifier = connection.container
    privateCloudDatabase = CKDatabase(
      scope: .private, connection: connection, defaults: defaults)
    publicCloudDatabase = CKDatabase(scope: .public, connection: connection, defaults: defaults)
    sharedCloudDatabase = CKDatabase(scope: .shared, connection: connection, defaults: defaults)
  }

  /// Creates a container with the transport of the current environment; see `CloudSyncEnvironment`.
  public convenience init(identifier containerIdentifier: String) {
    self.init(connection: CloudConnection(container: containerIdentifier, transport: nil))
  }

  /// Creates a container in the given environment.
  convenience init(
    identifier containerIdentifier: String, in environment: CloudSyncEnvironment
  ) {
    self.init(
      connection: CloudConnection(
        container: containerIdentifier, transport: nil, surroundings: environment))
  }

  /// Creates a container that uses `transport`.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the container.
  ///   - transport: The transport to a server, for one device.
  ///   - environment: The environment of the container.
  public convenience init(
    identifier: String, transport: any CloudTransport,
    environment: CloudEnvironment = .development
  ) {
    self.init(
      connection: CloudConnection(
        container: identifier, environment: environment, transport: transport))
  }

  /// Creates a container that uses `transport`, runs its tasks on `taskExecutor` and posts to
  /// `notificationCenter`.
  package convenience init(
    identifier: String, connection transport: any CloudTransport, taskExecutor: any TaskExecutor,
    notificationCenter: NotificationCenter
  ) {
    var surroundings = CloudSyncEnvironment.inForce
    surroundings.taskExecutor = taskExecutor
    surroundings.notificationCenter = notificationCenter
    self.init(
      connection: CloudConnection(
        container: identifier, transport: transport, surroundings: surroundings))
  }

  /// Creates a container whose engines' delegate calls pass through `interception`, and whose
  /// engines use `clock` unless their configuration has one.
  package convenience init(
    identifier: String, transport: any CloudTransport, interception: any DelegateInterception,
    clock: any Clock<Duration>
  ) {
    var surroundings = CloudSyncEnvironment.inForce
    surroundings.clock = clock
    self.init(
      connection: CloudConnection(
        container: identifier, transport: transport, surroundings: surroundings,
        interception: interception))
  }

  /// The database of a scope: the same object as the property of that name.
  public func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
    switch databaseScope {
    case .public: publicCloudDatabase
    case .private: privateCloudDatabase
    case .shared: sharedCloudDatabase
    }
  }

  /// The identifier.
  public override var description: String { "<CKContainer: \(connection.container)>" }
}

extension NSNotification.Name {
  /// Posted when the account changes; call `accountStatus` again.
  public static let CKAccountChanged = NSNotification.Name("CKAccountChangedNotification")
}
