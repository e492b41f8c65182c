import Foundation

/// The tabs in the order they were opened, with quick access by ID.
public struct TabList: Sendable {
  private(set) var tabs: [ScratchTab] = []
  private var positions: [UUID: Int] = [:]

  /// Creates an empty list.
  public init() {}

  /// Whether the older store's tabs have moved in.
  var hasMigrated = false

  /// The tab `id`, or `nil`; setting a tab appends or replaces it, setting `nil` removes it.
  subscript(id: UUID) -> ScratchTab? {
    get { positions[id].map { tabs[$0] } }
    set {
      switch (positions[id], newValue) {
      case (let position?, let tab?):
        tabs[position] = tab
      case (nil, let tab?):
        positions[id] = tabs.count
        tabs.append(tab)
      case (let position?, nil):
        tabs.remove(at: position)
        index()
      case (nil, nil):
        break
      }
    }
  }

  /// Keeps the tabs of files only.
  public mutating func removeSynced() {
    tabs.removeAll { $0.isScratch }
    hasMigrated = false
    index()
  }

  private mutating func index() {
    positions = Dictionary(
      tabs.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

extension TabList: Codable {
  private enum CodingKeys: String, CodingKey {
    case tabs, hasMigrated
  }

  /// Reads the file's form.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    tabs = try container.decode([ScratchTab].self, forKey: .tabs)
    hasMigrated = try container.decode(Bool.self, forKey: .hasMigrated)
    index()
  }

  /// Writes the file's form.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(tabs, forKey: .tabs)
    try container.encode(hasMigrated, forKey: .hasMigrated)
  }
}
