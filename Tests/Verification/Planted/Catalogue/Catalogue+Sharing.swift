private let access = "Sources/CloudMachine/ZoneAccess.swift"
private let viewers = "Sources/CloudMachine/WriteTransaction+Viewers.swift"

extension Catalogue {
  /// Faults in who sees and who may change what is shared.
  static let sharing: [PlantedFault] = [
    PlantedFault(
      "revoked participant stays", "A participant who was removed goes on seeing the zone.",
      by: .engines,
      edits: [
        .init(
          viewers, "for user in before where !after.contains(user) {",
          "for user in before where !PLANTED && !after.contains(user) {")
      ]),
    PlantedFault(
      "unshared record shown", "A participant in a hierarchy sees records outside of it.",
      by: .engines,
      edits: [
        .init(
          access, "guard let mount, let share = row.share else { return false }",
          "guard let mount, let share = row.share else { return PLANTED }")
      ]),
    PlantedFault(
      "read-only save accepted", "A participant who may only read can write.", by: .engines,
      edits: [
        .init(
          "Sources/CloudMachine/RecordBatch+Permissions.swift",
          "return participant.permission == .readWrite",
          "return participant.permission == .readWrite || PLANTED")
      ]),
    PlantedFault(
      "participants not told", "A change of a shared zone is not listed for its participants.",
      by: .engines,
      edits: [
        .init(
          viewers, "      if zone.sharing.isZoneWide {\n",
          "      if zone.sharing.isZoneWide, !PLANTED {\n")
      ]),
  ]
}
