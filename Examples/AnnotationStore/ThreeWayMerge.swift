/// Two versions of an item, merged field by field with the version that both came from.
///
/// A field that only one side changed has that side's value. The strategy decides about a field
/// that both changed differently. Without an ancestor every difference counts as a change of both
/// sides. The fields of a group are decided together.
struct ThreeWayMerge {
  /// A field or a group that both sides changed differently.
  struct Conflict: Hashable {
    var name: String
    var fields: [String]
    var decision: ConflictStrategy.Decision
  }

  /// The merged fields; this device's values where the user has to decide.
  private(set) var fields: Fields = [:]
  /// The contradictions in the order of their names.
  private(set) var conflicts: [Conflict] = []

  /// The fields that the user has to decide.
  var open: [String] { conflicts.filter { $0.decision == .askPerson }.flatMap(\.fields) }

  init(
    ancestor: Fields?, mine: Fields, theirs: Fields, _ strategy: ConflictStrategy,
    groups: [String: [String]] = [:]
  ) {
    let present = Set([ancestor ?? [:], mine, theirs].flatMap(\.keys))
    var units = groups.filter { $0.value.contains(where: present.contains) }
    for field in present.subtracting(groups.values.joined()) { units[field] = [field] }
    for (name, unit) in units.sorted(by: { $0.key < $1.key }) {
      func values(_ version: Fields) -> [FieldValue?] { unit.map { version[$0] } }
      func text(_ version: Fields) -> String {
        values(version).map { $0?.canonicalText ?? "" }.joined(separator: "\u{1F}")
      }
      let isMine: Bool
      if ItemKind.followers.contains(name) {
        isMine = text(mine).isGreater(than: text(theirs))
      } else if values(mine) == values(theirs) || ancestor.map(values) == values(theirs) {
        isMine = true
      } else if ancestor.map(values) == values(mine) {
        isMine = false
      } else {
        let decision = strategy.settle(
          ConflictStrategy.Question(
            field: name, mineTime: mine[date: "updatedAt"], theirsTime: theirs[date: "updatedAt"],
            mineText: text(mine), theirsText: text(theirs)))
        conflicts.append(Conflict(name: name, fields: unit.sorted(), decision: decision))
        isMine = decision != .theirs
      }
      for field in unit { fields[field] = isMine ? mine[field] : theirs[field] }
    }
  }
}
