package import CloudProtocol
import Foundation
package import Records

/// How one exchange writes things down as CloudKit Web Services do: who asks, of which database,
/// and how exactly.
///
/// What JSON or that service's vocabulary can't hold (the bits of a date, the server's record in a
/// conflict) travels in one extra member called `cloudsync`, only between two sides that both said
/// they know it. Without it everything else still works, as with Apple's service.
/// Source: web-services 1.3.
package struct Notation: Sendable {
  /// The container, for what names it.
  package var container: String
  /// The database, which decides how owners of zones are spelled.
  package var database: DatabaseScope
  /// Who asks, where that is known: always to a server that let somebody in, never to a client.
  package var user: UserID?
  /// Whether the extra members are written.
  package var isExact: Bool
  /// Whether numbers in fields are written as text.
  package var numbersAsStrings = false
  /// How the URLs of shares begin on the server that is asked.
  package var sharePrefix = ShareMetadata.urlPrefix
  /// Where the file in a field of a record can be had; `nil` for nowhere.
  package var downloadURL: (@Sendable (RecordID, String, Asset) -> String?)?
  /// The most items that one request may hold; `nil` for as many as the server takes.
  package var itemLimit: Int?
  /// The URL that the share of a record has, or will have; `nil` where it is not known.
  package var shareURL: (@Sendable (RecordID) -> String?)?

  /// A notation for one database.
  package init(
    container: String, database: DatabaseScope, user: UserID? = nil, isExact: Bool = true
  ) {
    self.container = container
    self.database = database
    self.user = user
    self.isExact = isExact
  }

  /// The items of a request, which are in the list called `name`.
  /// - Throws: `limitExceeded` when there are more than ``itemLimit``.
  func items(_ body: JSON, _ name: String) throws(CloudError) -> [JSON] {
    let items = try body.list(name)
    guard items.count <= itemLimit ?? .max else {
      throw CloudError(
        .limitExceeded,
        "the request holds \(items.count) '\(name)', more than the \(itemLimit ?? 0) that one "
          + "request may hold; send it in parts")
    }
    return items
  }

  /// The name of the one member that is not in CloudKit Web Services.
  package static let extra = "cloudsync"

  /// What is written into the extra member: the binary form, as base64.
  func exact(_ write: (inout ByteWriter) -> Void) -> JSON? {
    guard isExact else { return nil }
    var writer = ByteWriter()
    write(&writer)
    return .string(Notation.base64(writer.bytes))
  }

  /// What the extra member of `json` holds; `nil` when it is not there.
  func exact<Value>(
    in json: JSON, _ read: (inout ByteReader) throws(ByteFormatError) -> Value
  ) throws(CloudError) -> Value? {
    guard let text = json[Notation.extra]?.string else { return nil }
    guard let bytes = Notation.bytes(base64: text) else {
      throw .malformed("an extra member is not base64")
    }
    do throws(ByteFormatError) {
      var reader = ByteReader(bytes)
      let value = try read(&reader)
      guard reader.isAtEnd else { throw reader.fault("something follows") }
      return value
    } catch {
      throw .malformed("an extra member does not hold what belongs there")
    }
  }

  /// Bytes as text.
  package static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

  /// The bytes behind text with its padding; `nil` when it is not base64.
  package static func bytes(base64 text: String) -> [UInt8]? {
    Data(base64Encoded: text).map { [UInt8]($0) }
  }
}

extension CloudError {
  /// A request, or an answer, that makes no sense.
  package static func malformed(_ reason: String) -> CloudError {
    CloudError(.invalidArguments, reason)
  }
}

extension JSON {
  /// The text called `name`, which must be there.
  package func text(_ name: String) throws(CloudError) -> String {
    guard let value = self[name]?.string else { throw .malformed("'\(name)' must be text") }
    return value
  }

  /// The text called by the first of `names` that is there.
  package func optionalText(_ names: String...) throws(CloudError) -> String? {
    for name in names {
      guard let value = self[name] else { continue }
      guard let text = value.string else { throw .malformed("'\(name)' must be text") }
      return text
    }
    return nil
  }

  /// The settings of a part of a request: its own, over those of the whole.
  func over(_ whole: JSON) -> JSON {
    var members = members ?? Members()
    for element in whole.members?.elements ?? [] where members[element.name] == nil {
      members.add(element.name, element.value)
    }
    return .object(members)
  }

  /// An object with the members called `names` alone, as far as they are there.
  func only(_ names: [String]) -> JSON {
    var found = Members()
    for name in names { found.add(name, members?[name]) }
    return .object(found)
  }

  /// The list called `name`, which must be there.
  package func list(_ name: String) throws(CloudError) -> [JSON] {
    guard let value = self[name]?.array else { throw .malformed("'\(name)' must be a list") }
    return value
  }

  /// The list called `name`; empty when it is not there.
  package func optionalList(_ name: String) throws(CloudError) -> [JSON] {
    self[name] == nil ? [] : try list(name)
  }

  /// The texts in the list called `name`; `nil` when it is not there.
  package func texts(_ name: String) throws(CloudError) -> [String]? {
    guard self[name] != nil else { return nil }
    var texts: [String] = []
    for value in try list(name) {
      guard let text = value.string else { throw .malformed("'\(name)' must hold text") }
      texts.append(text)
    }
    return texts
  }

  /// The truth value called `name`; `nil` when it is not there.
  package func flag(_ name: String) throws(CloudError) -> Bool? {
    guard let value = self[name] else { return nil }
    guard let flag = value.bool else { throw .malformed("'\(name)' must be true or false") }
    return flag
  }

  /// The whole number called `name`; `nil` when it is not there.
  package func count(_ name: String) throws(CloudError) -> Int? {
    guard let value = self[name] else { return nil }
    guard let number = value.integer.flatMap({ Int(exactly: $0) }) else {
      throw .malformed("'\(name)' must be a whole number")
    }
    return number
  }

  /// The object called `name`, which must be there.
  package func object(_ name: String) throws(CloudError) -> JSON {
    guard let value = self[name], value.members != nil else {
      throw .malformed("'\(name)' must be an object")
    }
    return value
  }
}
