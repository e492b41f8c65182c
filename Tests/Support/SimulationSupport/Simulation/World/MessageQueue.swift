import CloudProtocol

/// Something on its way.
enum Message {
  /// A request to the server.
  case request(CloudCall, device: Int, account: Int?, session: Int, token: UInt64, isAnswered: Bool)
  /// An answer, or the news that there will be none.
  case answer(Result<CloudReply, CloudError>, device: Int, session: Int, token: UInt64)
  /// A push to the device, for an account.
  case push(device: Int, account: Int)
  /// The device learns that somebody else may be signed in.
  case accountSignal(device: Int)
  /// A device that was off starts.
  case launch(device: Int)
}

/// Messages by the time they arrive; those of one moment come in random order.
struct MessageQueue<Message> {
  private struct Slot {
    var time: Int
    var rank: UInt64
    var message: Message

    func comesBefore(_ other: Slot) -> Bool { (time, rank) < (other.time, other.rank) }
  }

  private var heap: [Slot] = []

  var isEmpty: Bool { heap.isEmpty }

  /// When the next message arrives.
  var nextTime: Int? { heap.first?.time }

  /// Sends `message` to arrive at `time`; `rank` orders it among those of the same moment.
  mutating func push(_ message: Message, at time: Int, rank: UInt64) {
    heap.append(Slot(time: time, rank: rank, message: message))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].comesBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  /// Takes the next message.
  mutating func pop() -> Message? {
    guard let first = heap.first else { return nil }
    let last = heap.removeLast()
    guard !heap.isEmpty else { return first.message }
    heap[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
        if heap[child].comesBefore(heap[least]) { least = child }
      }
      guard least != parent else { return first.message }
      heap.swapAt(least, parent)
      parent = least
    }
  }
}
