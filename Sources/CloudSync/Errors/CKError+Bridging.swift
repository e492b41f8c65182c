public import Foundation

/// Makes casts between `CKError` and `NSError` work in both directions, as they do with CloudKit.
///
/// `error as NSError` gives the domain, the code and `errorUserInfo`; an `NSError` of
/// `CKErrorDomain` from an app or a library casts to `CKError` with
/// `as? CKError` and is caught by `catch CKError.zoneNotFound`. Without this conformance an
/// `NSError` never casts to a Swift error on Linux.
extension CKError: _ObjectiveCBridgeable {
  /// The error as `NSError`.
  public var _nsError: NSError {
    NSError(domain: CKErrorDomain, code: code.rawValue, userInfo: errorUserInfo)
  }

  /// The error as `NSError`; called by `as NSError`.
  public func _bridgeToObjectiveC() -> NSError { _nsError }

  /// Converts an error of `CKErrorDomain`; `nil` for one of another domain or an unknown code.
  public static func _conditionallyBridgeFromObjectiveC(
    _ source: NSError, result: inout CKError?
  ) -> Bool {
    result = nil
    guard source.domain == CKErrorDomain, let code = CKError.Code(rawValue: source.code) else {
      return false
    }
    result = CKError(code, userInfo: source.userInfo)
    return true
  }

  /// Converts an error of `CKErrorDomain`; called by casts that were checked before.
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CKError?) {
    result = CKError(_nsError: source)
  }

  /// Converts an error; `nil` becomes `internalError`.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CKError {
    source.map { CKError(_nsError: $0) } ?? CKError(.internalError)
  }
}
