import CloudSync
import Foundation
import Records

/// Whether a record passes a query's filters, told as plainly as can be: the yardstick for the
/// conversion of predicates.
struct QueryFilterModel {
  let record: Record

  init(_ record: CKRecord) { self.record = record.value }

  func passes(_ filter: Query.Filter) -> Bool {
    let mine = value(filter.key)
    let given = filter.value
    switch filter.comparator {
    case .equals: return same(mine, given)
    case .notEquals: return !same(mine, given)
    case .lessThan: return order(mine, given) == -1
    case .lessThanOrEquals: return [-1, 0].contains(order(mine, given))
    case .greaterThan: return order(mine, given) == 1
    case .greaterThanOrEquals: return [1, 0].contains(order(mine, given))
    case .isIn: return members(given).contains { same(mine, $0) }
    case .isNotIn: return !members(given).contains { same(mine, $0) }
    case .beginsWith: return begins(mine, given)
    case .notBeginsWith: return !begins(mine, given)
    case .listContains: return members(mine).contains { same($0, given) }
    case .notListContains: return !members(mine).contains { same($0, given) }
    case .listContainsAny: return members(given).contains { one in has(mine, one) }
    case .notListContainsAny: return !members(given).contains { one in has(mine, one) }
    case .listContainsAll: return members(given).allSatisfy { one in has(mine, one) }
    case .notListContainsAll: return !members(given).allSatisfy { one in has(mine, one) }
    case .listMemberBeginsWith: return members(mine).contains { begins($0, given) }
    case .notListMemberBeginsWith: return !members(mine).contains { begins($0, given) }
    case .containsAllTokens: return wanted(given).allSatisfy(words.contains)
    case .containsAnyTokens: return wanted(given).contains(where: words.contains)
    case .near:
      guard case .location(let here) = mine, case .location(let there) = given else { return false }
      return CLLocation(here).distance(from: CLLocation(there)) <= filter.distance ?? -1
    }
  }

  private func value(_ key: String) -> FieldValue? {
    func user(_ stamp: RecordStamp?) -> FieldValue? {
      stamp.map {
        .reference(
          .init(target: RecordID(name: $0.user.rawValue, zone: .default), action: .none))
      }
    }
    switch SystemField(rawValue: key) {
    case nil: return record.fields[key]?.value
    case .recordID: return .reference(.init(target: record.id, action: .none))
    case .created: return record.created.map { .date($0.time) }
    case .modified: return record.modified.map { .date($0.time) }
    case .createdBy: return user(record.created)
    case .modifiedBy: return user(record.modified)
    case .parent, .share: return nil
    }
  }

  private func members(_ value: FieldValue?) -> [FieldValue] {
    if case .list(let members) = value { members } else { [] }
  }

  private func has(_ list: FieldValue?, _ member: FieldValue) -> Bool {
    members(list).contains { same($0, member) }
  }

  private func same(_ first: FieldValue?, _ second: FieldValue) -> Bool {
    if case .reference(let first) = first, case .reference(let second) = second {
      return first.target == second.target
    }
    return first == second || order(first, second) == 0
  }

  private func order(_ first: FieldValue?, _ second: FieldValue) -> Int? {
    func number(_ value: FieldValue?) -> Double? {
      switch value {
      case .int64(let number): Double(number)
      case .double(let number): number
      case .date(let time): time.secondsSinceReferenceDate
      default: nil
      }
    }
    guard let first = number(first), let second = number(second) else { return nil }
    return first < second ? -1 : first > second ? 1 : 0
  }

  private func begins(_ first: FieldValue?, _ second: FieldValue) -> Bool {
    guard case .string(let first) = first, case .string(let second) = second else { return false }
    return first.hasPrefix(second)
  }

  private var words: Set<String> {
    var words: Set<String> = []
    for element in record.fields {
      for value in [element.field.value] + members(element.field.value) {
        if case .string(let text) = value { words.formUnion(split(text)) }
      }
    }
    return words
  }

  private func wanted(_ value: FieldValue) -> [String] {
    guard case .string(let text) = value else { return [] }
    return split(text).filter { !["the", "and", "for", "a", "is"].contains($0) }
  }

  private func split(_ text: String) -> [String] {
    text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
      .components(separatedBy: CharacterSet.alphanumerics.inverted).filter { !$0.isEmpty }
  }
}
