/// The status of an app's permissions, the older type.
///
/// All permissions are granted here.
public enum CKApplicationPermissionStatus: Int, Sendable {
  /// The user has not been asked yet.
  case initialState = 0
  /// The request failed.
  case couldNotComplete = 1
  /// The user denied the permission.
  case denied = 2
  /// The user granted the permission.
  case granted = 3
}

/// The permissions that an app can request, the older type.
public struct CKApplicationPermissions: OptionSet, Hashable, Sendable {
  /// The bits, with CloudKit's values.
  public var rawValue: UInt

  /// Wraps the bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Other users can discover the user.
  public static let userDiscoverability = CKApplicationPermissions(rawValue: 1)
}

extension CKContainer {
  /// The status of an app's permissions.
  public typealias ApplicationPermissionStatus = CKApplicationPermissionStatus
  /// The permissions that an app can request.
  public typealias ApplicationPermissions = CKApplicationPermissions
  /// The completion handler of a request for permissions.
  public typealias ApplicationPermissionBlock =
    (CKContainer.ApplicationPermissionStatus, (any Error)?) -> Void

  /// The names of these types in older versions of Swift.
  public enum Application {
    /// The permissions that an app can request.
    public typealias Permissions = CKContainer.ApplicationPermissions
    /// The status of an app's permissions.
    public typealias PermissionStatus = CKContainer.ApplicationPermissionStatus
    /// The completion handler of a request for permissions.
    public typealias PermissionBlock = CKContainer.ApplicationPermissionBlock
  }

  /// Returns `granted`: accounts are always discoverable here.
  /// - Throws: `notAuthenticated` when no account is signed in.
  public func applicationPermissionStatus(
    for applicationPermission: CKContainer.ApplicationPermissions
  ) async throws -> CKContainer.ApplicationPermissionStatus {
    _ = try await connection.currentUser()
    return .granted
  }

  /// Returns `granted` without asking the user: accounts are always discoverable here.
  /// - Throws: `notAuthenticated` when no account is signed in.
  public func requestApplicationPermission(
    _ applicationPermission: CKContainer.ApplicationPermissions
  ) async throws -> CKContainer.ApplicationPermissionStatus {
    try await applicationPermissionStatus(for: applicationPermission)
  }

  /// Calls `completionHandler` with the result of `applicationPermissionStatus(for:)`.
  @preconcurrency public func status(
    forApplicationPermission applicationPermission: CKContainer.ApplicationPermissions,
    completionHandler:
      @escaping @Sendable (CKContainer.ApplicationPermissionStatus, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, onFailure: .couldNotComplete) {
      try await self.applicationPermissionStatus(for: applicationPermission)
    }
  }

  /// Calls `completionHandler` with the result of `requestApplicationPermission(_:)`.
  @preconcurrency public func requestApplicationPermission(
    _ applicationPermission: CKContainer.ApplicationPermissions,
    completionHandler:
      @escaping @Sendable (CKContainer.ApplicationPermissionStatus, (any Error)?) -> Void
  ) {
    status(forApplicationPermission: applicationPermission, completionHandler: completionHandler)
  }
}

/// The older name of `CKContainer.ApplicationPermissions`.
public typealias CKContainer_Application_Permissions = CKApplicationPermissions
/// The older name of `CKContainer.ApplicationPermissionStatus`.
public typealias CKContainer_Application_PermissionStatus = CKApplicationPermissionStatus
/// The completion handler of a request for permissions.
public typealias CKContainer_Application_PermissionBlock = CKContainer.ApplicationPermissionBlock
