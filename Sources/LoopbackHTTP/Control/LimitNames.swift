import LoopbackServer

/// The limits that the control interface lists and sets, by their names.
enum LimitNames {
  /// Those that are whole numbers.
  static var sizes: [(name: String, path: WritableKeyPath<ServerLimits, Int>)] {
    [
      ("itemsPerRequest", \.itemsPerRequest), ("requestBytes", \.requestBytes),
      ("recordBytes", \.recordBytes), ("zoneChangesPage", \.zoneChangesPage),
      ("databaseChangesPage", \.databaseChangesPage), ("queryTerms", \.queryTerms),
      ("filterValues", \.filterValues), ("assetBytes", \.assetBytes),
    ]
  }

  /// Those that are switched on and off.
  static var flags: [(name: String, path: WritableKeyPath<ServerLimits, Bool>)] {
    [
      ("fixesFieldKinds", \.fixesFieldKinds),
      ("childSavesChangeParents", \.childSavesChangeParents),
    ]
  }
}
