import CloudProtocol
import WebServices

/// The members of a request body; each must be read by the handler.
///
/// A body with an unread member is rejected, so that a request is never applied in part.
struct ControlArguments {
  private let members: JSON.Members
  private var known: Set<String> = []

  /// Reads a body, which must hold one object.
  init(_ body: [UInt8]) throws(HTTPRefusal) { try self.init(ControlArguments.json(body)) }

  private init(_ json: JSON) throws(HTTPRefusal) {
    guard let members = json.members else { throw HTTPRefusal(400, "the body must be an object") }
    self.members = members
  }

  /// Reads a body, which must hold one object or an array of objects; `body` handles each.
  ///
  /// - Throws: The refusal of the first object that is refused, with its index in the array.
  static func forEach<Value>(
    in bytes: [UInt8], _ body: (inout ControlArguments) throws(HTTPRefusal) -> Value
  ) throws(HTTPRefusal) -> [Value] {
    let json = try json(bytes)
    guard let array = json.array else {
      var arguments = try ControlArguments(json)
      return [try body(&arguments)]
    }
    var values: [Value] = []
    for (index, element) in array.enumerated() {
      do throws(HTTPRefusal) {
        var arguments = try ControlArguments(element)
        values.append(try body(&arguments))
      } catch {
        throw error.inItem(index)
      }
    }
    return values
  }

  private static func json(_ body: [UInt8]) throws(HTTPRefusal) -> JSON {
    do { return try JSON(parsing: body) } catch {
      throw HTTPRefusal(400, "the body is not JSON: \(error)")
    }
  }

  private init(_ members: JSON.Members) { self.members = members }

  /// The member called `name`, which is known from now on.
  private mutating func value(_ name: String) -> JSON? {
    known.insert(name)
    return members[name]
  }

  /// Whether there is a member called `name`, including one that is `null`.
  mutating func has(_ name: String) -> Bool { value(name) != nil }

  /// Whether the member called `name` is `null`, which removes the setting.
  mutating func isNull(_ name: String) -> Bool { value(name)?.isNull ?? false }

  /// Throws when a member was not read.
  func finish() throws(HTTPRefusal) {
    for element in members.elements where !known.contains(element.name) {
      let names = known.sorted().map { "'\($0)'" }.joined(separator: ", ")
      throw HTTPRefusal(
        400,
        "the member '\(element.name.prefix(64))' is unknown"
          + (names.isEmpty ? "; this request has none" : "; this request takes \(names)"))
    }
  }

  /// The text called `name`; `nil` when it is not there.
  mutating func optionalText(_ name: String) throws(HTTPRefusal) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.string, !text.isEmpty else {
      throw HTTPRefusal(400, "'\(name)' must be a non-empty string")
    }
    return text
  }

  /// The text called `name`, which must be there.
  mutating func text(_ name: String) throws(HTTPRefusal) -> String {
    guard let text = try optionalText(name) else {
      throw HTTPRefusal(400, "'\(name)' is missing: it must be a string")
    }
    return text
  }

  /// The truth value called `name`; `nil` when it is not there.
  mutating func flag(_ name: String) throws(HTTPRefusal) -> Bool? {
    guard let value = value(name) else { return nil }
    guard let flag = value.bool else { throw HTTPRefusal(400, "'\(name)' must be true or false") }
    return flag
  }

  /// The whole number called `name`, within `range`; `nil` when it is not there.
  mutating func count(_ name: String, in range: ClosedRange<Int>) throws(HTTPRefusal) -> Int? {
    guard let value = value(name) else { return nil }
    guard case .integer(let wide) = value, let number = Int(exactly: wide), range.contains(number)
    else {
      throw HTTPRefusal(
        400,
        "'\(name)' must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// The seconds called `name`, up to a day; `nil` when they are not there.
  mutating func seconds(_ name: String) throws(HTTPRefusal) -> Double? {
    guard let value = value(name) else { return nil }
    guard value.string == nil, let seconds = value.double, (0...86_400).contains(seconds) else {
      throw HTTPRefusal(400, "'\(name)' must be seconds from 0 to 86400")
    }
    return seconds
  }

  /// The word called `name`, one of those that `Word` has; `nil` when it is not there.
  mutating func word<Word: CaseIterable>(
    _ name: String, spelled: (Word) -> String
  ) throws(HTTPRefusal) -> Word? {
    guard let value = value(name) else { return nil }
    return try Word.named(value.string, in: name, spelled: spelled)
  }

  /// The code called `name`, by its name in CloudKit or its number; `nil` when it is not there.
  mutating func code(_ name: String) throws(HTTPRefusal) -> CloudError.Code? {
    guard let value = value(name) else { return nil }
    let code: CloudError.Code? =
      if case .integer(let number) = value {
        Int(exactly: number).flatMap { CloudError.Code(rawValue: $0) }
      } else {
        CloudError.Code.allCases.first { "\($0)" == value.string }
      }
    guard let code else {
      throw HTTPRefusal(
        400, "'\(name)' must be a code's name, such as zoneBusy, or its number, from 1 to 37")
    }
    return code
  }

  /// The object called `name`; `nil` when it is not there.
  mutating func object(_ name: String) throws(HTTPRefusal) -> ControlArguments? {
    guard let value = value(name) else { return nil }
    guard let inner = value.members else { throw HTTPRefusal(400, "'\(name)' must be an object") }
    return ControlArguments(inner)
  }
}

extension CaseIterable {
  /// The case that is spelled like the value of the parameter or member `name`.
  static func named(
    _ text: String?, in name: String, spelled: (Self) -> String
  ) throws(HTTPRefusal) -> Self {
    if let word = allCases.first(where: { spelled($0) == text }) { return word }
    let words = allCases.map(spelled).joined(separator: ", ")
    throw HTTPRefusal(400, "'\(name)' must be one of \(words)")
  }
}
