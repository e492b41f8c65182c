/// Puts parents before their children, so that a cloud that checks references takes each of them.
///
/// Stable: what is not bound by a parent keeps its place as far as that is possible. For deletions
/// turn the order around.
public struct TopologicalOrder<Element> {
  /// The elements, each after its parent; those of a cycle come last, as they were given.
  public let ordered: [Element]

  /// Elements that are, over their parents, their own ancestors, or hang under such ones.
  public let cyclic: [Element]

  /// Orders `elements`.
  ///
  /// Takes time in proportion to their number.
  /// - Parameters:
  ///   - elements: what to order; of several with one ID the last counts as the parent.
  ///   - id: an element's name.
  ///   - parent: the name of an element's parent; one that is not among the elements binds nothing.
  public init<ID: Hashable>(
    _ elements: [Element], id: (Element) -> ID, parent: (Element) -> ID?
  ) {
    var positions: [ID: Int] = [:]
    for (position, element) in elements.enumerated() { positions[id(element)] = position }
    var children = [[Int]](repeating: [], count: elements.count)
    var ready: [Int] = []
    for (position, element) in elements.enumerated() {
      if let parent = parent(element).flatMap({ positions[$0] }) {
        children[parent].append(position)
      } else {
        ready.append(position)
      }
    }
    var isPlaced = [Bool](repeating: false, count: elements.count)
    var order: [Int] = []
    order.reserveCapacity(elements.count)
    var next = 0
    while next < ready.count {
      let position = ready[next]
      next += 1
      order.append(position)
      isPlaced[position] = true
      ready += children[position]
    }
    let left = elements.indices.filter { !isPlaced[$0] }
    cyclic = left.map { elements[$0] }
    ordered = (order + left).map { elements[$0] }
  }
}

extension TopologicalOrder: Sendable where Element: Sendable {}
