/// What an app may do beyond its own data, the older form; there is nothing to ask for here.
public enum CKApplicationPermissionStatus: Int, Sendable {
  /// The user was not asked yet.
  case initialState = 0
  /// Asking failed.
  case couldNotComplete = 1
  /// The user said no.
  case denied = 2
  /// The user said yes.
  case granted = 3
}

/// What an app may ask for beyond its own data, the older form.
public struct CKApplicationPermissions: OptionSet, Hashable, Sendable {
  /// The bits, with the values CloudKit gives them.
  public var rawValue: UInt

  /// Wraps the bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Other users may find the user.
  public static let userDiscoverability = CKApplicationPermissions(rawValue: 1)
}

extension CKContainer {
  /// What an app may do beyond its own data.
  public typealias ApplicationPermissionStatus = CKApplicationPermissionStatus
  /// What an app may ask for beyond its own data.
  public typealias ApplicationPermissions = CKApplicationPermissions

  /// Granted: accounts can always be found here.
  /// - Throws: `notAuthenticated` when no account is signed in.
  public func applicationPermissionStatus(
    for applicationPermission: CKContainer.ApplicationPermissions
  ) async throws -> CKContainer.ApplicationPermissionStatus {
    _ = try await connection.currentUser()
    return .granted
  }

  /// Granted, without anybody being asked: accounts can always be found here.
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
    answer(
      { (result: Result<CKContainer.ApplicationPermissionStatus, any Error>) in
        switch result {
        case .success(let status): completionHandler(status, nil)
        case .failure(let error): completionHandler(.couldNotComplete, error)
        }
      }, { try await self.applicationPermissionStatus(for: applicationPermission) })
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
