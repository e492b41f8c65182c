/// Keeps children whose parent has not come yet, and gives them back when it does.
///
/// A feed promises no order between records: a child may come pages before its parent. It is held
/// here, out of people's sight, and released in the order of arrival. A value; its owner guards it.
public struct OrphanHolding<ID: Hashable & Sendable>: Sendable {
  private var children: [ID: [ID]] = [:]
  private var parents: [ID: ID] = [:]

  /// Holds nothing.
  public init() {}

  /// Whether nothing is held.
  public var isEmpty: Bool { parents.isEmpty }

  /// How many children are held.
  public var count: Int { parents.count }

  /// Whether the child waits for its parent.
  public func holds(_ child: ID) -> Bool { parents[child] != nil }

  /// The parent a child waits for; `nil` when it does not wait.
  public func parent(of child: ID) -> ID? { parents[child] }

  /// The children that wait for a parent, in the order they came.
  public func children(of parent: ID) -> [ID] { children[parent] ?? [] }

  /// Holds a child until its parent comes.
  ///
  /// One that is held already waits for this parent from now on, at the end of the line.
  public mutating func hold(_ child: ID, for parent: ID) {
    guard parents[child] != parent else { return }
    drop(child)
    parents[child] = parent
    children[parent, default: []].append(child)
  }

  /// Gives back everyone who waited for `parent`, in the order they came.
  public mutating func release(_ parent: ID) -> [ID] {
    let released = children.removeValue(forKey: parent) ?? []
    for child in released { parents[child] = nil }
    return released
  }

  /// Forgets a child that is not coming any more.
  public mutating func drop(_ child: ID) {
    guard let parent = parents.removeValue(forKey: child) else { return }
    children[parent]?.removeAll { $0 == child }
    if children[parent]?.isEmpty == true { children[parent] = nil }
  }

  /// Forgets everything.
  public mutating func clear() {
    children = [:]
    parents = [:]
  }
}
