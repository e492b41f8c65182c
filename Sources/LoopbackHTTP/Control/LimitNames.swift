import LoopbackServer

/// The names of the limits in the control interface.
enum LimitNames {
  /// The integer limits.
  static var sizes: [(name: String, path: WritableKeyPath<ServerLimits, Int>)] {
    [
      ("itemsPerRequest", \.itemsPerRequest), ("requestBytes", \.requestBytes),
      ("recordBytes", \.recordBytes), ("zoneChangesPage", \.zoneChangesPage),
      ("databaseChangesPage", \.databaseChangesPage), ("queryTerms", \.queryTerms),
      ("filterValues", \.filterValues), ("assetBytes", \.assetBytes),
    ]
  }

  /// The Boolean limits.
  static var flags: [(name: String, path: WritableKeyPath<ServerLimits, Bool>)] {
    [
      ("fixesFieldKinds", \.fixesFieldKinds),
      ("childSavesChangeParents", \.childSavesChangeParents),
    ]
  }
}
