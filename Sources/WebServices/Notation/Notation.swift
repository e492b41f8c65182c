package import CloudProtocol
import Foundation
package import Records

/// The JSON encoding of CloudKit Web Services for one request: converts between the protocol's
/// types and JSON.
///
/// Values that the service's JSON cannot represent (the exact bits of a date, the server's record
/// in a conflict) are in one extra member called `cloudsync`, which is used only between two sides
/// that both announced support. Without it everything else still works, as with Apple's service.
/// Rules: WS-14 to WS-31.
package struct Notation: Sendable {
  /// The container.
  package var container: String
  /// The database, which determines the spelling of zone owners.
  package var database: DatabaseScope
  /// The requester, if known: set on a server for authenticated requests, never on a client.
  package var user: UserID?
  /// Whether the extra members are written.
  package var isExact: Bool
  /// Whether numbers in fields are written as text.
  package var numbersAsStrings = false
  /// The prefix of share URLs on the server.
  package var sharePrefix = ShareMetadata.urlPrefix
  /// Returns the download URL of the file in a field; `nil` if there is none.
  package var downloadURL: (@Sendable (RecordID, String, Asset) -> String?)?
  /// The maximum number of items in a request; `nil` for the server's limit.
  package var itemLimit: Int?
  /// Returns the current or future share URL of a record; `nil` if it is unknown.
  package var shareURL: (@Sendable (RecordID) -> String?)?

  /// Creates a notation for one database.
  package init(
    container: String, database: DatabaseScope, user: UserID? = nil, isExact: Bool = true
  ) {
    self.container = container
    self.database = database
    self.user = user
    self.isExact = isExact
  }

  /// The items of a request, in the list called `name`.
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

  /// The name of the extra member, which is not part of CloudKit Web Services.
  package static let extra = "cloudsync"

  /// The value of the extra member: the binary form as base64.
  func exact(_ write: (inout ByteWriter) -> Void) -> JSON? {
    guard isExact else { return nil }
    var writer = ByteWriter()
    write(&writer)
    return .string(Notation.base64(writer.bytes))
  }

  /// Decodes the extra member of `json`; `nil` when it is absent.
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
      throw .malformed("an extra member has invalid content")
    }
  }

  /// Encodes bytes as base64.
  package static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

  /// Decodes base64 with padding; `nil` when it is invalid.
  package static func bytes(base64 text: String) -> [UInt8]? {
    Data(base64Encoded: text).map { [UInt8]($0) }
  }
}

extension CloudError {
  /// The error of a malformed request or response.
  package static func malformed(_ reason: String) -> CloudError {
    CloudError(.invalidArguments, reason)
  }

  /// The error of a field, in the form of CloudKit's messages.
  static func malformed(_ reason: String, inField name: String) -> CloudError {
    .malformed("\(reason)\(reason.hasSuffix(".") ? "" : ".") Field '\(name)'.")
  }

  /// The error of an operation in a request that is refused as a whole, with the record's name.
  static func malformed(_ reason: String, ofRecord name: String) -> CloudError {
    .malformed("\(reason)\(reason.hasSuffix(".") ? "" : ".") Record '\(name.prefix(64))'.")
  }

  /// The error of a word that is none of the choices.
  package static func unknown(_ word: String, _ what: String, _ choices: [String]) -> CloudError {
    .malformed(
      "the \(what) '\(word.prefix(24))' is unknown; it must be one of "
        + choices.joined(separator: ", "))
  }

  /// The error of a required member that is absent or of another kind.
  fileprivate static func unfit(_ name: String, _ value: JSON?, _ kind: String) -> CloudError {
    .malformed(
      value == nil ? "'\(name)' is missing: it must be \(kind)" : "'\(name)' must be \(kind)")
  }
}

extension JSON {
  /// The text called `name`, which is required.
  package func text(_ name: String) throws(CloudError) -> String {
    guard let value = self[name]?.string else { throw .unfit(name, self[name], "text") }
    return value
  }

  /// The text called by the first of `names` that is present.
  package func optionalText(_ names: String...) throws(CloudError) -> String? {
    for name in names {
      guard let value = self[name] else { continue }
      guard let text = value.string else { throw .malformed("'\(name)' must be text") }
      return text
    }
    return nil
  }

  /// The members of this part of a request, with defaults from the whole request.
  func over(_ whole: JSON) -> JSON {
    var members = members ?? Members()
    for element in whole.members?.elements ?? [] where members[element.name] == nil {
      members.add(element.name, element.value)
    }
    return .object(members)
  }

  /// Whether there is a member called `name`, also one that is null.
  func has(_ name: String) -> Bool { members?[name] != nil }

  /// An object with only the members called `names` that are present.
  func only(_ names: [String]) -> JSON {
    var found = Members()
    for name in names { found.add(name, members?[name]) }
    return .object(found)
  }

  /// The list called `name`, which is required.
  package func list(_ name: String) throws(CloudError) -> [JSON] {
    guard let value = self[name]?.array else { throw .unfit(name, self[name], "a list") }
    return value
  }

  /// The list called `name`; empty when it is absent.
  package func optionalList(_ name: String) throws(CloudError) -> [JSON] {
    self[name] == nil ? [] : try list(name)
  }

  /// The texts in the list called `name`; `nil` when it is absent.
  package func texts(_ name: String) throws(CloudError) -> [String]? {
    guard self[name] != nil else { return nil }
    var texts: [String] = []
    for value in try list(name) {
      guard let text = value.string else { throw .malformed("'\(name)' must hold text") }
      texts.append(text)
    }
    return texts
  }

  /// The truth value called `name`; `nil` when it is absent.
  package func flag(_ name: String) throws(CloudError) -> Bool? {
    guard let value = self[name] else { return nil }
    guard let flag = value.bool else { throw .malformed("'\(name)' must be true or false") }
    return flag
  }

  /// The whole number called `name`; `nil` when it is absent.
  package func count(_ name: String) throws(CloudError) -> Int? {
    guard let value = self[name] else { return nil }
    guard let number = value.integer.flatMap({ Int(exactly: $0) }) else {
      throw .malformed("'\(name)' must be a whole number")
    }
    return number
  }

  /// The object called `name`, which is required.
  package func object(_ name: String) throws(CloudError) -> JSON {
    guard let value = self[name], value.members != nil else {
      throw .unfit(name, self[name], "an object")
    }
    return value
  }
}
