/// The edits of an account, from which follows what must exist in the end.
///
/// It knows nothing of sync: it notes every edit when the store's call has returned, and what
/// allows a removed item to return.
struct EditHistory {
  private struct History {
    var versions: [ItemVersion] = []
    /// The numbers of the devices that changed the item.
    var authors: Set<Int> = []
    /// Whether somebody removed the item.
    var isRemoved = false
    /// When the latest removal was, where removals are compared with edits.
    var removalDate: Double?
    /// Whether an edit may have crossed the removal, so that the item may be there or not.
    var mayReturn = false
  }

  private var items: [String: History] = [:]

  /// The items somebody removed.
  var removedKeys: [String] { items.filter { $0.value.isRemoved }.keys.sorted() }

  /// How many items anybody ever made.
  var count: Int { items.count }

  /// Notes an edit.
  ///
  /// - Parameters:
  ///   - author: the number of the device.
  ///   - isWaiting: whether another device has an edit of an item that the cloud may not have.
  mutating func note(_ edit: StoreEdit, by author: Int, isWaiting: (String) -> Bool) {
    items[edit.key, default: History()].authors.insert(author)
    switch edit {
    case .wrote(let key, let line, let rank):
      items[key, default: History()].versions.append(ItemVersion(line: line, rank: rank))
      if items[key]?.isRemoved == true { items[key]?.mayReturn = true }
    case .removed(let key, let date):
      items[key, default: History()].isRemoved = true
      if let date {
        let before = items[key]?.removalDate ?? date
        items[key]?.removalDate = max(before, date)
      }
      if isWaiting(key) { items[key]?.mayReturn = true }
    }
  }

  /// The first of `keys` that no device but one has changed.
  func unshared(_ keys: Set<String>, of device: Int) -> String? {
    keys.sorted().first { items[$0]?.authors == [device] }
  }

  /// Notes that a device has an edit of a removed item that it may send again.
  mutating func excuseReturn(of key: String) { items[key]?.mayReturn = true }

  /// What is wrong with what people see in the end; `nil` when all is right.
  func fault(in lines: [String: String], _ kind: StoreKind) -> String? {
    for (key, history) in items.sorted(by: { $0.key < $1.key }) {
      if lines[key] == nil, !kind.mustStay(key) { continue }
      if let fault = fault(in: history, lines[key], kind.rule) { return "item \(key): \(fault)" }
    }
    if let stranger = lines.keys.sorted().first(where: { items[$0] == nil }) {
      return "item \(stranger): nobody ever made it: \(lines[stranger] ?? "")"
    }
    return nil
  }

  private func mayBeThere(_ history: History) -> Bool {
    guard let removal = history.removalDate else { return history.mayReturn }
    return history.versions.contains { $0.rank.first >= removal }
  }

  private func fault(
    in history: History, _ line: String?, _ rule: StoreKind.Rule
  ) -> String? {
    guard let line else {
      // A removal may cross a later edit on its way: deletions in the cloud have no conditions.
      return history.isRemoved ? nil : "it is lost; nobody removed it"
    }
    if history.isRemoved, !mayBeThere(history) { return "it was removed and came back: \(line)" }
    if case .merged(let judge) = rule { return judge(history.versions, line) }
    guard history.versions.contains(where: { $0.line == line }) else {
      return "nobody ever wrote this version: \(line)"
    }
    // After a removal the version that came back need not be the greatest.
    guard case .greatest = rule, !history.isRemoved else { return nil }
    let greatest = history.versions.max { $0.rank < $1.rank }
    guard let greatest, greatest.line != line else { return nil }
    return "the winner \(greatest.line) was lost to \(line)"
  }
}
