public import Foundation

/// Who may be let into a share.
public struct CKSharingParticipantAccessOption: OptionSet, Hashable, Sendable {
  /// The bits, with the values CloudKit gives them.
  public var rawValue: UInt

  /// Wraps the bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Everyone who knows the URL.
  public static let anyoneWithLink = CKSharingParticipantAccessOption(rawValue: 1)
  /// Only those who are invited.
  public static let specifiedRecipientsOnly = CKSharingParticipantAccessOption(rawValue: 2)
  /// Either.
  public static let any: CKSharingParticipantAccessOption = [
    .anyoneWithLink, .specifiedRecipientsOnly,
  ]
}

/// What people who are let in may be allowed.
public struct CKSharingParticipantPermissionOption: OptionSet, Hashable, Sendable {
  /// The bits, with the values CloudKit gives them.
  public var rawValue: UInt

  /// Wraps the bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// To read.
  public static let readOnly = CKSharingParticipantPermissionOption(rawValue: 1)
  /// To read and change.
  public static let readWrite = CKSharingParticipantPermissionOption(rawValue: 2)
  /// Either.
  public static let any: CKSharingParticipantPermissionOption = [.readOnly, .readWrite]
}

/// What a share sheet offers.
///
/// There is no such sheet here; apps that make one up can read it.
///
/// Set up by one thread before others read it, as on Apple's platforms.
public final class CKAllowedSharingOptions: NSObject, NSSecureCoding, NSCopying {
  /// What people may be allowed.
  public var allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption
  /// Who may be let in.
  public var allowedParticipantAccessOptions: CKSharingParticipantAccessOption
  /// Whether participants may invite others.
  public var allowsParticipantsToInviteOthers = true
  /// Whether people may ask to be let in.
  public var allowsAccessRequests = true

  /// Offers these options.
  public init(
    allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption,
    allowedParticipantAccessOptions: CKSharingParticipantAccessOption
  ) {
    self.allowedParticipantPermissionOptions = allowedParticipantPermissionOptions
    self.allowedParticipantAccessOptions = allowedParticipantAccessOptions
  }

  /// Everything; each reading gives an object of its own.
  public class var standard: CKAllowedSharingOptions {
    CKAllowedSharingOptions(
      allowedParticipantPermissionOptions: .any, allowedParticipantAccessOptions: .any)
  }

  /// Another object with the same options.
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

  /// Reads the options back.
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
