import CloudSyncTesting
import Foundation
import Testing

@Test(arguments: [
  DelegateConformance(
    "TabStore", zone: CKRecordZone.ID(zoneName: "ItsypadData")
  ) { try TestedTabs($0) },
  DelegateConformance(
    "ClipboardStore", zone: CKRecordZone.ID(zoneName: "ItsypadData"), canEdit: false
  ) { try TestedClipboard($0) },
  DelegateConformance(
    "GameResultStore", zone: CKRecordZone.ID(zoneName: "UserDataZone"), canEdit: false
  ) { try TestedResults($0) },
  DelegateConformance("IdeaStore", zone: CKRecordZone.ID.default) { try TestedIdeas($0) },
  DelegateConformance(
    "AnnotationStore", zone: CKRecordZone.ID(zoneName: "AnnotationsZone")
  ) { try TestedAnnotations($0) },
  DelegateConformance(
    "AchievementStore", zone: CKRecordZone.ID(zoneName: "AchievementsZone"), canDelete: false
  ) { try TestedAchievements($0) },
  DelegateConformance(
    "LeaderboardStore", zone: CKRecordZone.ID(zoneName: "SocialZone"), canDelete: false
  ) { try TestedLeaderboards($0) },
])
func theExampleStoresConform(_ suite: DelegateConformance) async throws {
  try await suite.run().check()
}
