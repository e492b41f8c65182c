public import CloudProtocol
public import Foundation

/// Whether and how an account can be used.
public enum CKAccountStatus: Int, Sendable {
  /// It could not be found out.
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

/// An app's place in the cloud: three databases and the account that is signed in.
///
/// See CS-50 to CS-54. Beside CloudKit's initialisers there is one that takes the
/// transport, the way to a server.
public final class CKContainer: NSObject, Sendable {
  /// The container of the running program, always the same object: `iCloud.` and its bundle
  /// identifier, or the program's name where there is no bundle.
  public class func `default`() -> CKContainer { CloudSyncEnvironment.inForce.defaultContainer }

  /// What the container and its databases share.
  package let connection: CloudConnection

  /// The container's name, such as `iCloud.com.example.app`.
  public let containerIdentifier: String?

  /// The signed-in user's own database.
  public let privateCloudDatabase: CKDatabase
  /// The database for all users of the app.
  public let publicCloudDatabase: CKDatabase
  /// What other users shared with the signed-in user.
  public let sharedCloudDatabase: CKDatabase

  /// What a `configuredWith` set for the calls made here.
  let defaults: OperationDefaults

  /// A container and its databases, with settings for their calls.
  init(connection: CloudConnection, defaults: OperationDefaults = OperationDefaults()) {
    self.connection = connection
    self.defaults = defaults
    containerIdentifier = connection.container
    privateCloudDatabase = CKDatabase(
      scope: .private, connection: connection, defaults: defaults)
    publicCloudDatabase = CKDatabase(scope: .public, connection: connection, defaults: defaults)
    sharedCloudDatabase = CKDatabase(scope: .shared, connection: connection, defaults: defaults)
  }

  /// The container `containerIdentifier`, reached as the environment in force says; see
  /// `CloudSyncEnvironment`.
  public convenience init(identifier containerIdentifier: String) {
    self.init(connection: CloudConnection(container: containerIdentifier, transport: nil))
  }

  /// The container `containerIdentifier` in the given environment.
  convenience init(
    identifier containerIdentifier: String, in environment: CloudSyncEnvironment
  ) {
    self.init(
      connection: CloudConnection(
        container: containerIdentifier, transport: nil, surroundings: environment))
  }

  /// The container `identifier`, reached by `transport`.
  ///
  /// - Parameters:
  ///   - identifier: The container's name.
  ///   - transport: The way to a server; it stands for one device.
  ///   - environment: Which of the container's two worlds.
  public convenience init(
    identifier: String, transport: any CloudTransport,
    environment: CloudEnvironment = .development
  ) {
    self.init(
      connection: CloudConnection(
        container: identifier, environment: environment, transport: transport))
  }

  /// A container reached by `transport`, whose tasks `taskExecutor` runs and whose news go to
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

  /// A container whose engines talk to what `interception` puts before their delegates.
  package convenience init(
    identifier: String, transport: any CloudTransport, interception: any DelegateInterception
  ) {
    self.init(
      connection: CloudConnection(
        container: identifier, transport: transport, interception: interception))
  }

  /// The database of a kind: the same object as the property of that name.
  public func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
    switch databaseScope {
    case .public: publicCloudDatabase
    case .private: privateCloudDatabase
    case .shared: sharedCloudDatabase
    }
  }

  /// The identifier.
  public override var description: String { "<CKContainer: \(connection.container)>" }

  /// The same as `description`.
  public override var debugDescription: String { description }
}

extension NSNotification.Name {
  /// Posted when another account, or none, is signed in; ask for `accountStatus` again.
  public static let CKAccountChanged = NSNotification.Name("CKAccountChangedNotification")
}
