import CloudProtocol

/// A message in the network, or an event that is due later.
enum Message {
  /// The request of a run of a device.
  struct Sender: CustomStringConvertible, Sendable {
    var device: Int
    var run: Int
    var number: Int

    var description: String { "\(run).\(number)" }
  }

  /// A request to the server.
  case request(CloudCall, from: Sender, account: Int?, isAnswered: Bool)
  /// An answer, or the news that there will be none.
  case answer(Result<CloudReply, CloudError>, to: Sender)
  /// A push to the device, for an account.
  case push(CloudPush, device: Int, account: Int)
  /// The device learns that another account may be signed in.
  case accountSignal(device: Int)
  /// A device that was off starts.
  case launch(device: Int)
  /// A moment at which the clock stops.
  case pause
}

/// Messages in the order in which they arrive; those of one moment arrive in random order.
struct MessageQueue {
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
