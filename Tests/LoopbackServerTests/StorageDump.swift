import CloudMachine
import CloudSyncTesting
import Records

let alice = StorageSample.alice
let bob = StorageSample.bob
let everyone = StorageSample.everyone
let zoneA = StorageSample.zoneA
let zoneB = StorageSample.zoneB

func row(
  _ name: String, _ sequence: UInt64, in zone: ZoneID = zoneA, parent: String? = nil,
  owner: String? = nil, text: String = "text"
) -> RecordRow {
  StorageSample.row(name, sequence, in: zone, parent: parent, owner: owner, text: text)
}

func tombstone(_ name: String, _ sequence: UInt64, in zone: ZoneID = zoneA) -> RecordRow {
  StorageSample.tombstone(name, sequence, in: zone)
}
