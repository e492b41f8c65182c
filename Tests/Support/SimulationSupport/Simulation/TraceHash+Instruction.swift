import CloudProtocol
import Records
import SyncMachine

extension TraceHash {
  /// Adds an instruction of a machine.
  mutating func mix(_ instruction: Instruction) {
    switch instruction {
    case .deliver(let event): mix(event)
    case .askForBatch: mix(1)
    case .askForFetchOptions: mix(2)
    case .send(let request):
      mix(3)
      mix(request.requestID)
    case .abandon(let token):
      mix(4)
      mix(token.number)
    case .finish(let waiters, _):
      mix(5)
      for waiter in waiters { mix(waiter.number) }
    case .wait(let deadline):
      mix(6)
      guard let deadline else { return }
      let (seconds, attoseconds) = deadline.sinceStart.components
      mix(UInt64(bitPattern: seconds))
      mix(UInt64(bitPattern: attoseconds))
    }
  }

  /// Adds an event for an app.
  mutating func mix(_ event: SyncEvent) {
    switch event {
    case .stateUpdate: mix(10)
    case .accountChange: mix(11)
    case .willFetchChanges: mix(12)
    case .fetchedDatabaseChanges(let modified, let deleted):
      mix(13)
      for zone in modified { mix(zone.name) }
      for deletion in deleted { mix(deletion.zone.name) }
    case .willFetchZoneChanges(let zone, let startsOver):
      mix(startsOver ? 14 : 15)
      mix(zone.name)
    case .fetchedZoneChanges(let modified, let deleted):
      mix(16)
      for record in modified { mix(record) }
      for deletion in deleted { mix(deletion.id.name) }
    case .didFetchZoneChanges(let zone, let error):
      mix(17)
      mix(zone.name)
      mix(error?.code.rawValue ?? 0)
    case .didFetchChanges: mix(18)
    case .willSendChanges: mix(19)
    case .sentDatabaseChanges(let sent):
      mix(20)
      for result in sent.saved { mix(result.error?.code.rawValue ?? 0) }
      for result in sent.deleted { mix(result.error?.code.rawValue ?? 0) }
    case .sentRecordChanges(let sent):
      mix(21)
      for result in sent.saved {
        mix(result.id.name)
        switch result.outcome {
        case .success(let record): mix(record)
        case .failure(let error): mix(error.code.rawValue)
        }
      }
      for result in sent.deleted {
        mix(result.id.name)
        mix(result.error?.code.rawValue ?? 0)
      }
    case .didSendChanges: mix(22)
    }
  }

  private mutating func mix(_ record: Record) {
    mix(record.id.name)
    mix(record.changeTag?.rawValue ?? "")
    if case .int64(let sequence) = record.fields["sequence"]?.value { mix(Int(sequence)) }
  }
}
