import CloudSync
import SyncMachine
import Synchronization

/// The invariants that hold whenever no task can run, and at the end.
extension EngineWorld {
  /// I3, I4, I10 and I15: what the engines have in their state is what the apps asked for.
  func checkAtRest() {
    for device in devices {
      guard let run = device.run, !run.app.isBusy else { continue }
      let (state, stage) = (run.engine.syncState, run.engine.stage)
      let (pending, token) = run.app.contents.withLock { contents in
        (
          contents.checker.pendingChanges.difference(from: state),
          contents.checker.tokenFault(in: state)
        )
      }
      if let token { findings.report("I10", "\(device.name): \(token)") }
      guard stage == .idle || stage == .dormant else { continue }
      let faults = run.app.contents.withLock { $0.checker.changeFaultsAtRest(in: state) }
      for fault in faults { findings.report(fault.invariant, "\(device.name): \(fault.message)") }
      if let pending { findings.report("I3", "\(device.name): \(pending)") }
    }
  }

  /// I17: whoever waits for an operation and is cancelled returns without waiting for anything.
  func checkCancelled() {
    let count = operations.cancelledCount
    if count > 0 {
      findings.report("I17", "\(count) cancelled tasks still wait for their operations")
    }
  }

  /// I22 and I24: no engine, app, task, timer or request outlives its time, and no task ran
  /// anywhere but on the executor.
  func checkNothingIsLeft() {
    let left = devices.reduce(0) { $0 + $1.leftOverCount }
    if left > 0 { findings.report("I22", "\(left) runs of apps are still there after their end") }
    if executor.clock.sleeperCount > 0 {
      findings.report("I22", "\(executor.clock.sleeperCount) timers run on after the end")
    }
    if operations.open > 0 {
      findings.report("I17", "\(operations.open) operations never returned")
    }
    if cloud.openRequestCount > 0 { findings.report("I22", "a request is open after the end") }
    if executor.escapeCount > 0 {
      findings.report("I24", "\(executor.escapeCount) jobs ran past the executor they were given")
    }
  }
}
