public import Foundation

/// The access options of a share.
public struct CKSharingParticipantAccessOption: OptionSet, Hashable, Sendable {
  /// The bits, with the values CloudKit gives them.
  public var rawValue: UInt

  /// Wraps the bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Everyone who knows the URL.
  public static let anyoneWithLink = CKSharingParticipantAccessOption(rawValue: 1)
  /// Invited users only.
  public static let specifiedRecipientsOnly = CKSharingParticipantAccessOption(rawValue: 2)
  /// Either.
  public static let any: CKSharingParticipantAccessOption = [
    .anyoneWithLink, .specifiedRecipientsOnly,
  ]
}

/// The permission options of a share.
public struct CKSharingParticipantPermissionOption: OptionSet, Hashable, Sendable {
  /// The bits, with the values CloudKit gives them.
  public var rawValue: UInt

  /// Wraps the bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Participants may read the shared records but not change them.
  public static let readOnly = CKSharingParticipantPermissionOption(rawValue: 1)
  /// To read and change.
  public static let readWrite = CKSharingParticipantPermissionOption(rawValue: 2)
  /// Either.
  public static let any: CKSharingParticipantPermissionOption = [.readOnly, .readWrite]
}

/// The options that a share sheet offers.
///
/// There is no sharing sheet here; apps with their own can read the options.
///
/// Set up by one thread before others read it, as on Apple's platforms.
public final class CKAllowedSharingOptions: NSObject, NSSecureCoding, NSCopying {
  /// The permissions that participants can receive.
  public var allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption
  /// Whether the owner may invite single users, share with everyone who has the URL, or both.
  public var allowedParticipantAccessOptions: CKSharingParticipantAccessOption
  /// Whether participants may invite others.
  public var allowsParticipantsToInviteOthers = true
  /// Whether users may request access.
  public var allowsAccessRequests = true

  /// Creates options.
  public init(
    allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption,
    allowedParticipantAccessOptions: CKSharingParticipantAccessOption
  ) {
    self.allowedParticipantPermissionOptions = allowedParticipantPermissionOptions
    self.allowedParticipantAccessOptions = allowedParticipantAccessOptions
  }

  /// All options; each access creates an object.
  public class var standard: CKAllowedSharingOptions {
    CKAllowedSharingOptions(
      allowedParticipantPermissionOptions: .any, allowedParticipantAccessOptions: .any)
  }

  /// Creates an object with the same options.
  public func copy(with zone: NSZone? = nil) -> Any {
    let copy = CKAllowedSharingOptions(
      allowedParticipantPermissionOptions: allowedParticipantPermissionOptions,
      allowedParticipantAccessOptions: allowedParticipantAccessOptions)
    copy.allowsParticipantsToInviteOthers = allowsParticipantsToInviteOthers
    copy.allowsAccessRequests = allowsAccessRequests
    return copy
  }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the options.
  public func encode(with coder: NSCoder) {
    coder.encode(Int64(allowedParticipantPermissionOptions.rawValue), forKey: "permissions")
    coder.encode(Int64(allowedParticipantAccessOptions.rawValue), forKey: "access")
    coder.encode(allowsParticipantsToInviteOthers, forKey: "invite")
    coder.encode(allowsAccessRequests, forKey: "requests")
  }

  /// Decodes the options.
  public init?(coder: NSCoder) {
    guard coder.containsValue(forKey: "permissions"), coder.containsValue(forKey: "access") else {
      return nil
    }
    allowedParticipantPermissionOptions = CKSharingParticipantPermissionOption(
      rawValue: UInt(truncatingIfNeeded: coder.decodeInt64(forKey: "permissions")))
    allowedParticipantAccessOptions = CKSharingParticipantAccessOption(
      rawValue: UInt(truncatingIfNeeded: coder.decodeInt64(forKey: "access")))
    allowsParticipantsToInviteOthers = coder.decodeBool(forKey: "invite")
    allowsAccessRequests = coder.decodeBool(forKey: "requests")
  }
}
