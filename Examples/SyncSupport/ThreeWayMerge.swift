/// Brings two versions of one item together, field by field, with the version both came from.
///
/// What only one side changed is taken from that side; what both changed alike is no conflict; what
/// both changed differently is the strategy's to decide. The ancestor is the record as the cloud
/// had it when this device last heard, so without a cached copy of it every difference counts as a
/// change of both sides. Fields that mean something only together form a group and are decided as
/// one: nobody wants the width of one edit and the height of the other.
public struct ThreeWayMerge<Value: Hashable & Sendable>: Sendable {
  /// One version: its fields, and when it was written.
  public struct Version: Hashable, Sendable {
    /// The fields there are; a missing one is a value like any other.
    public var fields: [String: Value]
    /// When it was written, in seconds of any one reference; `nil` if unknown.
    public var time: Double?

    /// A version with these fields.
    public init(_ fields: [String: Value], time: Double? = nil) {
      self.fields = fields
      self.time = time
    }
  }

  /// What both sides changed differently.
  public struct Conflict: Hashable, Sendable {
    /// The field's or the group's name.
    public var name: String
    /// The fields it is about, by name.
    public var fields: [String]
    /// What the strategy said.
    public var decision: ConflictStrategy.Decision
  }

  /// What came out.
  public struct Outcome: Hashable, Sendable {
    /// The merged fields; where the person is still to decide, this device's values.
    public var fields: [String: Value]
    /// What both sides changed differently, by name.
    public var conflicts: [Conflict]

    /// The fields a person has to decide, by name.
    public var open: [String] {
      conflicts.filter { $0.decision == .askPerson }.flatMap(\.fields)
    }
  }

  /// What decides about a field that both sides changed.
  public var strategy: ConflictStrategy

  /// Groups of fields that are decided as one, by the group's name.
  public var groups: [String: [String]]

  /// Fields no strategy is asked about, such as the date of the edit: the greater value stays.
  public var followers: Set<String>

  private let text: @Sendable (Value?) -> String

  /// A way to merge.
  ///
  /// - Parameters:
  ///   - strategy: decides what both sides changed differently.
  ///   - groups: fields that are decided as one.
  ///   - followers: fields that decide nothing: the greater text stays.
  ///   - text: a value's text, to break ties by; the same value must give the same text
  ///     everywhere.
  public init(
    strategy: ConflictStrategy, groups: [String: [String]] = [:], followers: Set<String> = [],
    text: @escaping @Sendable (Value?) -> String = { $0.map { "\($0)" } ?? "" }
  ) {
    self.strategy = strategy
    self.groups = groups
    self.followers = followers
    self.text = text
  }

  /// Merges what this device has with what the cloud has.
  ///
  /// - Parameter ancestor: the version both came from; `nil` when it is not known.
  public func merge(ancestor: Version?, mine: Version, theirs: Version) -> Outcome {
    var fields: [String: Value] = [:]
    var conflicts: [Conflict] = []
    for unit in units(of: [ancestor, mine, theirs].compactMap(\.self)) {
      let (here, there) = (unit.values(mine), unit.values(theirs))
      let chosen: Version
      if here == there {
        chosen = mine
      } else if followers.contains(unit.name) {
        chosen = isGreater(unit, mine, theirs) ? mine : theirs
      } else if let ancestor, unit.values(ancestor) == here {
        chosen = theirs
      } else if let ancestor, unit.values(ancestor) == there {
        chosen = mine
      } else {
        let decision = strategy.settle(question(unit, mine, theirs))
        conflicts.append(Conflict(name: unit.name, fields: unit.fields, decision: decision))
        chosen = decision == .theirs ? theirs : mine
      }
      for field in unit.fields { fields[field] = chosen.fields[field] }
    }
    return Outcome(fields: fields, conflicts: conflicts)
  }

  /// A field, or a group of them.
  private struct Unit {
    var name: String
    var fields: [String]

    func values(_ version: Version) -> [Value?] { fields.map { version.fields[$0] } }
  }

  private func units(of versions: [Version]) -> [Unit] {
    let present = versions.reduce(into: Set<String>()) { $0.formUnion($1.fields.keys) }
    let grouped = Set(groups.values.joined())
    let single = present.subtracting(grouped).map { Unit(name: $0, fields: [$0]) }
    let together = groups.compactMap { name, fields in
      fields.contains(where: present.contains) ? Unit(name: name, fields: fields.sorted()) : nil
    }
    return (single + together).sorted { $0.name < $1.name }
  }

  private func question(
    _ unit: Unit, _ mine: Version, _ theirs: Version
  ) -> ConflictStrategy.Question {
    ConflictStrategy.Question(
      field: unit.name, mineTime: mine.time, theirsTime: theirs.time,
      mineText: text(of: unit, mine), theirsText: text(of: unit, theirs))
  }

  private func isGreater(_ unit: Unit, _ mine: Version, _ theirs: Version) -> Bool {
    text(of: unit, theirs).utf8.lexicographicallyPrecedes(text(of: unit, mine).utf8)
  }

  private func text(of unit: Unit, _ version: Version) -> String {
    unit.values(version).map(text).joined(separator: "\u{1F}")
  }
}
