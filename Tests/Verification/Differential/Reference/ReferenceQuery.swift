import CloudProtocol
import Foundation
import Records

/// The results of queries.
///
/// Rules: CS-71 to CS-90; CS-71 to CS-83.
extension ReferenceCloud {
  /// Refuses filters that make no sense whatever is stored.
  func check(_ query: Query) throws(CloudError) {
    if query.recordType == "Users" { throw refusal(.invalidArguments) }
    for filter in query.filters {
      let isSound: Bool
      switch (filter.comparator, filter.value) {
      case (.isIn, .list), (.isNotIn, .list), (.listContainsAny, .list),
        (.notListContainsAny, .list), (.listContainsAll, .list), (.notListContainsAll, .list):
        isSound = true
      case (.isIn, _), (.isNotIn, _), (.listContainsAny, _), (.notListContainsAny, _),
        (.listContainsAll, _), (.notListContainsAll, _):
        isSound = false
      case (.beginsWith, _), (.notBeginsWith, _), (.listMemberBeginsWith, _),
        (.notListMemberBeginsWith, _), (.containsAllTokens, _), (.containsAnyTokens, _):
        isSound = filter.value.kind == .string
      case (.near, _): isSound = filter.value.kind == .location && filter.distance != nil
      case (.lessThan, .reference), (.lessThanOrEquals, .reference), (.greaterThan, .reference),
        (.greaterThanOrEquals, .reference):
        isSound = false
      case (.equals, _), (.notEquals, _), (.lessThan, _), (.lessThanOrEquals, _),
        (.greaterThan, _), (.greaterThanOrEquals, _), (.listContains, _), (.notListContains, _):
        isSound = true
      }
      if !isSound { throw refusal(.invalidArguments) }
    }
  }
}

extension Query {
  /// The order of the answer: by the keys of the sorts, a missing one first, then by ID.
  func isOrdered(_ first: Record, before second: Record) -> Bool {
    for sort in sorts {
      let one = first.queried(sort.key)?.key(from: sort.relativeTo)
      let other = second.queried(sort.key)?.key(from: sort.relativeTo)
      if one == other { continue }
      let isBefore =
        if let one, let other { one.isBelow(other) } else { one == nil }
      return isBefore == sort.ascending
    }
    return first.id < second.id
  }
}

/// A value as comparisons see it.
private enum Key: Equatable {
  case number(Double)
  case text(String)

  func isBelow(_ other: Key) -> Bool {
    switch (self, other) {
    case (.number(let one), .number(let other)): one < other
    case (.text(let one), .text(let other)): one < other
    case (.number, .text), (.text, .number): false
    }
  }

  func isLike(_ other: Key) -> Bool {
    switch (self, other) {
    case (.number, .number), (.text, .text): true
    case (.number, .text), (.text, .number): false
    }
  }
}

extension FieldValue {
  /// The key of a single value: texts without case, references by their record.
  fileprivate func key(from place: Location? = nil) -> Key? {
    switch self {
    case .string(let text): .text(text.lowercased())
    case .int64(let number): .number(Double(number))
    case .double(let number): .number(number)
    case .date(let time): .number(time.secondsSinceReferenceDate)
    case .reference(let reference):
      .text("\(reference.target.zone.owner)/\(reference.target.zone.name)/\(reference.target.name)")
    case .location(let location): place.map { .number(metres(location, $0)) }
    case .bytes, .asset, .list: nil
    }
  }

  fileprivate var members: [FieldValue] {
    if case .list(let values) = self { values } else { [] }
  }

  fileprivate var text: String {
    switch self {
    case .string(let text): text
    case .reference(let reference): reference.target.name
    case .int64, .double, .date, .bytes, .asset, .location, .list: ""
    }
  }
}

/// The distance on a round earth, by the haversine formula.
private func metres(_ one: Location, _ other: Location) -> Double {
  func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
  let north = sin(radians(other.latitude - one.latitude) / 2)
  let east = sin(radians(other.longitude - one.longitude) / 2)
  let square =
    north * north + cos(radians(one.latitude)) * cos(radians(other.latitude)) * east * east
  return 2 * 6_371_008.8 * asin(min(1, square.squareRoot()))
}

extension Record {
  /// The value that queries see under `key`: a field or a system field.
  fileprivate func queried(_ key: String) -> FieldValue? {
    func reference(_ id: RecordID?) -> FieldValue? {
      id.map { .reference(Reference(target: $0, action: .none)) }
    }
    func user(_ stamp: RecordStamp?) -> FieldValue? {
      reference(stamp.map { RecordID(name: $0.user.rawValue, zone: .default) })
    }
    switch SystemField(rawValue: key) {
    case .recordID: return reference(id)
    case .created: return created.map { .date($0.time) }
    case .modified: return modified.map { .date($0.time) }
    case .createdBy: return user(created)
    case .modifiedBy: return user(modified)
    case .parent: return reference(parent)
    case .share: return reference(share)
    case nil:
      guard let field = fields[key], !field.isEncrypted else { return nil }
      return field.value
    }
  }
}

extension Query.Filter {
  /// The filter with one value fewer in its list.
  var withoutLast: Query.Filter {
    var filter = self
    filter.value = .list(Array(value.members.dropLast()))
    return filter
  }

  /// The filter with the asker's zones by the name that stands for the asker.
  func spelled(for asker: String) -> Query.Filter {
    guard case .reference(var reference) = value, reference.target.zone.owner == asker else {
      return self
    }
    var filter = self
    reference.target.zone.owner = ZoneID.currentOwner
    filter.value = .reference(reference)
    return filter
  }

  /// Whether `record` is let through: a negative filter lets through what its positive one does
  /// not, also where the field is missing.
  func holds(for record: Record, asker: String) -> Bool {
    var filter = self
    if case .reference(let reference) = value, reference.target.name == ZoneID.currentOwner {
      let own = RecordID(name: asker, zone: .default)
      filter.value = .reference(Reference(target: own, action: .none))
    }
    let (positive, isNegated) = filter.comparator.split
    filter.comparator = positive
    return filter.isPositive(record) != isNegated
  }

  private func isPositive(_ record: Record) -> Bool {
    if comparator == .containsAllTokens || comparator == .containsAnyTokens {
      let words = record.words(in: key)
      let wanted = value.text.words.filter { !stopWords.contains($0) }
      return comparator == .containsAllTokens
        ? wanted.allSatisfy(words.contains) : wanted.contains(where: words.contains)
    }
    guard let found = record.queried(key) else { return false }
    let (one, other) = (found.key(), value.key())
    let isLike = if let one, let other { one.isLike(other) } else { false }
    let isBelow = if let one, let other { one.isBelow(other) } else { false }
    func has(_ wanted: FieldValue) -> Bool {
      found.members.contains { $0.key() == wanted.key() }
    }
    switch comparator {
    case .equals:
      if case .list(let wanted) = value {
        return found.kind == .list && found.members.map { $0.key() } == wanted.map { $0.key() }
      }
      return one != nil && one == other
    case .lessThan: return isBelow
    case .lessThanOrEquals: return isLike && (isBelow || one == other)
    case .greaterThan: return isLike && !isBelow && one != other
    case .greaterThanOrEquals: return isLike && !isBelow
    case .isIn: return one != nil && value.members.contains { $0.key() == one }
    case .beginsWith: return found.text.utf8.starts(with: value.text.utf8)
    case .listContains: return has(value)
    case .listContainsAny: return value.members.contains(where: has)
    case .listContainsAll: return found.kind == .list && value.members.allSatisfy(has)
    case .listMemberBeginsWith:
      return found.members.contains { $0.text.utf8.starts(with: value.text.utf8) }
    case .near:
      guard case .location(let here) = found, case .location(let there) = value else {
        return false
      }
      return metres(here, there) <= distance ?? 0
    default: return false
    }
  }
}

extension Query.Filter.Comparator {
  /// The comparator without its "not".
  fileprivate var split: (Query.Filter.Comparator, Bool) {
    let name = rawValue.replacingOccurrences(of: "NOT_", with: "")
    return (Query.Filter.Comparator(rawValue: name) ?? self, name != rawValue)
  }
}

/// Rules: CS-71 to CS-90.
private let stopWords: Set<String> = Set(
  """
  a an and are as at be but by for if in into is it no not of on or such that the their then there
  these they this to was will with
  """.split { $0.isWhitespace }.map(String.init))

extension String {
  /// The words, without case and diacritics.
  fileprivate var words: [String] {
    folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
      .split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }
}

extension Record {
  /// The words of the texts under `key`, or of all texts.
  fileprivate func words(in key: String) -> [String] {
    fields.filter { !$0.field.isEncrypted && (key.isEmpty || key == $0.key) }
      .flatMap { [$0.field.value] + $0.field.value.members }
      .flatMap { value in value.kind == .string ? value.text.words : [] }
  }
}
