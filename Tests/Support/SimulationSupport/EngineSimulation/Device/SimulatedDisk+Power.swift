import Synchronization

extension SimulatedDisk {
  /// Whether the power was cut.
  var isOff: Bool { contents.withLock { $0.faults.isOff(at: $0.operations) } }
}
