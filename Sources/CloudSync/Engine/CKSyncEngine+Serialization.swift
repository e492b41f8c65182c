import CloudProtocol
public import Foundation
import Records
package import SyncMachine

extension CKSyncEngine.State {
  /// The state that an engine needs between launches, stored by the app.
  ///
  /// Its encoding is a single byte sequence with a version and a checksum and is deterministic. A
  /// damaged or newer state is rejected with `SerializationError`; older versions are supported
  /// permanently. `readableJSON` shows its content. A snapshot is inexpensive; the work is done
  /// when it is encoded.
  public struct Serialization: Codable, Sendable {
    /// The state.
    package let value: SyncState

    /// Wraps a state.
    package init(_ value: SyncState) { self.value = value }

    private enum CodingKeys: String, CodingKey { case data }

    /// Encodes one member, `data`, with the bytes.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(Data(value.encoded()), forKey: .data)
    }

    /// Decodes a state.
    ///
    /// - Throws: `SerializationError` when the bytes are damaged, not a state, or from a newer
    ///   version, and when the encoded value is not that of a state.
    public init(from decoder: any Decoder) throws {
      guard let container = try? decoder.container(keyedBy: CodingKeys.self),
        let data = try? container.decode(Data.self, forKey: .data)
      else { throw SerializationError(.foreign) }
      do throws(StateFormatError) {
        value = try SyncState(decoding: [UInt8](data))
      } catch {
        throw SerializationError(error)
      }
    }

    /// The state as sorted, indented JSON for display and snapshot tests; it can't be decoded.
    public var readableJSON: String { StateReport(value).json }
  }

  /// The reason why a serialized state was rejected; nothing was changed.
  public struct SerializationError: Error, Hashable, Sendable, LocalizedError,
    CustomStringConvertible
  {
    /// The kinds of errors.
    public struct Code: Hashable, Sendable {
      private let rawValue: UInt8
      /// The bytes are not a state.
      public static let foreign = Code(rawValue: 0)
      /// The bytes were written by a newer version.
      public static let future = Code(rawValue: 1)
      /// The bytes are a damaged state.
      public static let damaged = Code(rawValue: 2)
      /// The state belongs to another container, environment or database.
      public static let otherDatabase = Code(rawValue: 3)
    }

    /// The kind of error.
    public let code: Code

    /// A description of the problem and its remedy, without content of the state.
    public let message: String

    init(_ error: StateFormatError) {
      message = error.description
      switch error {
      case .foreign: code = .foreign
      case .future: code = .future
      case .damaged: code = .damaged
      }
    }

    init(of known: SyncedDatabase, usedFor database: SyncedDatabase) {
      code = .otherDatabase
      message =
        "The sync state belongs to the \(known), and the engine was made for the \(database). Give "
        + "each database a state, or a state store, that no other one uses."
    }

    /// The message.
    public var errorDescription: String? { message }

    /// The message.
    public var description: String { message }
  }
}

/// The readable form of a state: tokens as base64, changes as short lines.
struct StateReport: Encodable {
  var formatVersion: Int
  var container: String?
  var environment: String?
  var databaseScope: String?
  var user: String?
  /// Present only while the app handles an account change.
  var isUserUnannounced: Bool?
  var databaseToken: Data?
  var zoneTokens: [String: Data]
  var zonesWithUnfetchedChanges: [String]
  var zonesStartingOver: [String]
  var needsFetch: Bool
  var hasPendingUntrackedChanges: Bool
  var subscription: String?
  var pendingDatabaseChanges: [String]
  var pendingRecordZoneChanges: [String]

  init(_ state: SyncState) {
    formatVersion = Int(state.format)
    container = state.database?.container
    environment = state.database?.environment.rawValue
    databaseScope = state.database.map { "\($0.scope)" }
    user = state.user?.rawValue
    isUserUnannounced = state.unannounced == nil ? nil : true
    databaseToken = state.databaseToken.map { Data($0.bytes) }
    zoneTokens = Dictionary(
      state.zoneTokens.map { (Self.name($0.key), Data($0.value.bytes)) },
      uniquingKeysWith: { first, _ in first })
    zonesWithUnfetchedChanges = state.changedZones.map(Self.name)
    zonesStartingOver = state.expiredZones.sorted().map(Self.name)
    needsFetch = state.needsFetch
    hasPendingUntrackedChanges = state.hasUntrackedChanges
    subscription = state.subscription?.rawValue
    pendingDatabaseChanges = state.zones.unsettled.map { "\($0.kind) \(Self.name($0.id))" }
    pendingRecordZoneChanges = state.records.unsettled.map {
      "\($0.kind) \(Self.name($0.id.zone))/\($0.id.name)"
    }
  }

  private static func name(_ zone: ZoneID) -> String {
    zone.owner == ZoneID.currentOwner ? zone.name : "\(zone.owner)/\(zone.name)"
  }

  var json: String { jsonText(.prettyPrinted) }
}

extension Encodable {
  /// The value as JSON with sorted keys and plain slashes; `{}` if it can't be encoded.
  package func jsonText(_ formatting: JSONEncoder.OutputFormatting = []) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, formatting]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }
}
