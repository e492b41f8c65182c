public import Foundation

/// Why a call could not be carried out; nothing was changed then.
public enum AnnotationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is no such layer, annotation or comment here.
  case notFound(UUID)
  /// The layer belongs to somebody who lets this account only read it.
  case readOnly(UUID)
  /// Only the layer's owner may do this.
  case notOwner(UUID)
  /// The file is larger than a record may hold.
  case mediaTooLarge(bytes: Int, limit: Int)
  /// A position or a scale that is no finite number.
  case notANumber
  /// The item has no contradiction to decide.
  case notInConflict(UUID)
  /// The layer is not shared.
  case notShared(UUID)
  /// The layer is not in the cloud yet; sync first.
  case notInCloud(UUID)
  /// Nobody by that address or name can be invited.
  case unknownPerson
  /// The link leads to no layer of this app, or to one this account may not see.
  case shareNotAccepted
  /// The share could not be made.
  case shareFailed

  /// One sentence for people, without any content.
  public var description: String {
    switch self {
    case .notFound(let id): "there is nothing called \(id.uuidString) here"
    case .readOnly(let id):
      "\(id.uuidString) is on a layer that was shared with you to read; ask its owner for more"
    case .notOwner(let id): "only the owner of the layer \(id.uuidString) can do this"
    case .mediaTooLarge(let bytes, let limit):
      "the file has \(bytes) bytes, and \(limit) is the most; make it smaller"
    case .notANumber: "a position and a scale must be finite numbers"
    case .notInConflict(let id): "\(id.uuidString) has no conflict to resolve"
    case .notShared(let id): "the layer \(id.uuidString) is not shared"
    case .notInCloud(let id): "the layer \(id.uuidString) is not in the cloud yet; sync first"
    case .unknownPerson: "nobody by that address or name can be invited"
    case .shareNotAccepted: "Failed to accept share"
    case .shareFailed: "Failed to create share"
    }
  }
}
