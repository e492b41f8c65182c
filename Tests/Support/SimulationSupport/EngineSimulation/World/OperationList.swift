import Synchronization

/// The manual operations that have not returned, with the tasks that wait for them.
final class OperationList: Sendable {
  private struct Operation {
    var number: Int
    var device: Int
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  private struct Contents {
    var last = 0
    var open: [Operation] = []
  }

  private let contents = Mutex(Contents())

  /// An operation of a device begins; its number.
  func begin(on device: Int) -> Int {
    contents.withLock { contents in
      contents.last += 1
      contents.open.append(Operation(number: contents.last, device: device))
      return contents.last
    }
  }

  /// The task that waits for an operation and can give up.
  func note(_ task: Task<Void, Never>, of number: Int) {
    contents.withLock { contents in
      if let index = contents.open.firstIndex(where: { $0.number == number }) {
        contents.open[index].task = task
      }
    }
  }

  /// An operation has returned.
  func end(_ number: Int) {
    contents.withLock { contents in contents.open.removeAll { $0.number == number } }
  }

  /// The number of operations that have not returned.
  var open: Int { contents.withLock { $0.open.count } }

  /// The number of operations that have not returned although their tasks are cancelled.
  var cancelledCount: Int { contents.withLock { $0.open.count { $0.isCancelled } } }

  /// One of them that was not cancelled yet: its device, and what cancels its task.
  func cancellable(_ random: inout SeededRandom) -> (device: Int, cancel: () -> Void)? {
    let choice = random.next()
    return contents.withLock { contents in
      let indexes = contents.open.indices.filter {
        !contents.open[$0].isCancelled && contents.open[$0].task != nil
      }
      guard !indexes.isEmpty else { return nil }
      let index = indexes[Int(choice % UInt64(indexes.count))]
      guard let task = contents.open[index].task else { return nil }
      contents.open[index].isCancelled = true
      return (contents.open[index].device, { task.cancel() })
    }
  }
}
