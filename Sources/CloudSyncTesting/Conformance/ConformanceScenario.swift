import CloudSync

/// One story of a case, in clouds that no other one uses.
struct ConformanceScenario: Sendable {
  /// The case.
  var conformanceCase: ConformanceCase
  /// The name within the case.
  var step: String
  var body: @Sendable (ConformanceTrial) async throws -> Void

  /// The text with which `DelegateConformance.run(only:)` selects the scenario.
  var name: String { "\(conformanceCase.rawValue)/\(step)" }
}

extension DelegateConformance {
  /// The scenarios of a case in their order; those of crashes are counted by a first run.
  func scenarios(of one: ConformanceCase) -> [ConformanceScenario] {
    guard applies(one) else { return [] }
    func scenario(
      _ step: String, _ body: @escaping @Sendable (ConformanceTrial) async throws -> Void
    ) -> ConformanceScenario {
      ConformanceScenario(conformanceCase: one, step: step, body: body)
    }
    switch one {
    case .goodDay: return [scenario("items") { try await $0.goodDay() }]
    case .conflicts:
      return ConflictStory.all(canEdit: canEdit, canDelete: canDelete).map { story in
        scenario(story.name) { try await $0.conflict(story) }
      }
    case .changesDuringSends:
      return [false, true].filter { $0 ? canDelete : canEdit }.map { deletes in
        scenario(deletes ? "deleted" : "changed") {
          try await $0.changeDuringSend(deletes: deletes)
        }
      }
    case .refusedSaves:
      return ConformanceTrial.saveRefusals.map { code, defect in
        scenario("\(code)") { try await $0.refusedSave(code, defect) }
      }
    case .refusedDeletions:
      return ConformanceTrial.deletionRefusals.map { code in
        scenario("\(code)") { try await $0.refusedDeletion(code) }
      }
    case .fullStorage: return [scenario("quota") { try await $0.fullStorage() }]
    case .lostAnswers: return [scenario("saves") { try await $0.lostAnswers() }]
    case .missingZones:
      return [
        scenario("refused zone") { try await $0.refusedZone() },
        scenario("zone removed before a send") { try await $0.zoneRemovedBeforeSend() },
      ]
    case .removedZones:
      return [CKDatabase.DatabaseChange.Deletion.Reason.deleted, .purged].map { reason in
        scenario("\(reason)") { try await $0.removedZone(reason) }
      }
    case .encryptedDataReset: return [scenario("reset") { try await $0.encryptedDataReset() }]
    case .expiredTokens:
      return [false, true].map { forgets in
        scenario(forgets ? "with forgotten deletions" : "with deletions") {
          try await $0.expiredTokens(forgettingDeletions: forgets)
        }
      }
    case .accounts:
      return [
        scenario("switch") { try await $0.accountSwitch(signsOut: false) },
        scenario("sign-out and sign-in") { try await $0.accountSwitch(signsOut: true) },
      ] + (worksSignedOut ? [scenario("first sign-in") { try await $0.firstSignIn() }] : [])
    case .relaunches:
      return [
        scenario("after a sync") { try await $0.relaunchAfterSync() },
        scenario("with unsent changes") { try await $0.relaunchWithUnsentChanges() },
      ]
    case .crashes: return [scenario("none") { try await $0.crash(at: nil) }]
    }
  }

  /// The scenario in which the app crashes at the step of this number.
  func crashScenario(at step: Int) -> ConformanceScenario {
    ConformanceScenario(conformanceCase: .crashes, step: "\(step)") {
      try await $0.crash(at: step)
    }
  }

  func applies(_ one: ConformanceCase) -> Bool {
    (zone != .default || !one.removesZones) && (canDelete || one != .refusedDeletions)
  }
}
