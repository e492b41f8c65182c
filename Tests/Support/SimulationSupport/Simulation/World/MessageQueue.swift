import CloudProtocol

/// A message in the network.
enum Message {
  /// A request to the server.
  case request(CloudCall, device: Int, account: Int?, session: Int, token: UInt64, isAnswered: Bool)
  /// An answer, or the news that there will be none.
  case answer(Result<CloudReply, CloudError>, device: Int, session: Int, token: UInt64)
  /// A push to the device, for an account.
  case push(device: Int, account: Int)
  /// The device learns that another account may be signed in.
  case accountSignal(device: Int)
  /// A device that was off starts.
  case launch(device: Int)
}

/// Messages in the order in which they arrive; those of one moment arrive in random order.
struct MessageQueue<Message> {
  /// The messages, the next one last.
  private var slots: [(time: Int, rank: UInt64, message: Message)] = []

  var isEmpty: Bool { slots.isEmpty }

  /// The time at which the next message arrives.
  var nextTime: Int? { slots.last?.time }

  /// Sends `message` to arrive at `time`; `rank` orders it among those of the same moment.
  mutating func push(_ message: Message, at time: Int, rank: UInt64) {
    let index = slots.firstIndex { ($0.time, $0.rank) < (time, rank) } ?? slots.endIndex
    slots.insert((time, rank, message), at: index)
  }

  /// Removes the next message.
  mutating func pop() -> Message? { slots.popLast()?.message }
}
