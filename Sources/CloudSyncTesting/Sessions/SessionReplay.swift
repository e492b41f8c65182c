public import CloudProtocol
public import Foundation
import Synchronization

/// A transport that replays a session recorded by `SessionRecorder`.
///
/// The app must make the recorded calls in the same order; concurrent calls may come in any order,
/// and the current user may be requested at any time. Request IDs are ignored, everything else must
/// be equal: an app whose records contain new dates or random names must take its clock and names
/// from the test. A different call fails with `internalError`, and `check()` reports the
/// difference. It can be used from any thread.
public final class SessionReplay: CloudTransport {
  private struct Exchange {
    var number: Int
    var call: CloudCall
    var answer: Result<CloudReply, CloudError>?
    /// The lines of the call and its reply in the file.
    var sentAt: Int
    var answeredAt: Int
    var isServed = false

    var isQuestionOfUser: Bool { call.request == .fetchCurrentUser }

    /// Whether the call is still to be made.
    var isExpected: Bool { !isServed && !isQuestionOfUser }

    var result: Result<CloudReply, CloudError> {
      answer ?? .failure(CloudError(.networkFailure, "the recorded session ends before the answer"))
    }
  }

  private struct Contents {
    var exchanges: [Exchange] = []
    /// The places in `exchanges`, by the numbers of the calls.
    var places: [Int: Int] = [:]
    var signals: ArraySlice<(place: Int, signal: CloudSignal)> = []
    var difference: SessionError?

    var user: Result<CloudReply, CloudError>?

    /// The calls before this place have been made.
    private var madeCalls = 0
    /// The questions of who is signed in before this place have been asked.
    private var madeQuestions = 0

    /// The place of the first call that is still to be made.
    mutating func nextCall() -> Int? {
      while madeCalls < exchanges.count, !exchanges[madeCalls].isExpected { madeCalls += 1 }
      return madeCalls < exchanges.count ? madeCalls : nil
    }

    /// The place of the first question of who is signed in that was not asked.
    private mutating func nextQuestion() -> Int? {
      while madeQuestions < exchanges.count,
        exchanges[madeQuestions].isServed || !exchanges[madeQuestions].isQuestionOfUser
      { madeQuestions += 1 }
      return madeQuestions < exchanges.count ? madeQuestions : nil
    }

    /// The current user at this point of the session.
    ///
    /// Its requests may be more or less frequent than in the session.
    mutating func currentUser() -> Result<CloudReply, CloudError>? {
      let end = nextCall().map { exchanges[$0].answeredAt } ?? .max
      if let next = nextQuestion(), exchanges[next].sentAt <= end || user == nil { ask(next) }
      return user
    }

    private mutating func ask(_ place: Int) {
      exchanges[place].isServed = true
      user = exchanges[place].result
    }

    /// Counts questions of who is signed in as asked that were asked before `line`.
    mutating func passQuestions(before line: Int) {
      while let next = nextQuestion(), exchanges[next].sentAt < line { ask(next) }
    }

    /// Removes the signals whose preceding calls have all been made.
    mutating func takeDueSignals() -> [CloudSignal] {
      let open = nextCall().map { exchanges[$0].sentAt } ?? .max
      let due = signals.prefix { $0.place < open }
      signals = signals.dropFirst(due.count)
      // A question that follows a signal gets the user after it.
      if let last = due.last { passQuestions(before: last.place) }
      return due.map(\.signal)
    }
  }

  private let contents: Mutex<Contents>
  private let listeners = SignalListeners()

  /// Opens a recorded session.
  ///
  /// - Throws: `SessionError` when the file can't be read or is not a session.
  public init(_ url: URL) throws {
    guard let data = FileManager.default.contents(atPath: url.path) else {
      throw SessionError(description: "There is no recorded session at \(url.path).")
    }
    var contents = Contents()
    let lines = data.split(separator: 0x0a)
    let other = SessionError(
      description: "\(url.path) is not a session that this version reads; record it again.")
    if lines.isEmpty { throw other }
    for (place, line) in lines.enumerated() {
      let entry: SessionLine
      do {
        entry = try SessionLine.decoder.decode(SessionLine.self, from: Data(line))
      } catch {
        throw SessionError(
          description: "Line \(place + 1) of the session at \(url.path) can't be read: \(error)")
      }
      if place == 0, entry.format != SessionLine.currentFormat { throw other }
      SessionReplay.take(entry, place, &contents)
    }
    self.contents = Mutex(contents)
  }

  private static func take(_ line: SessionLine, _ place: Int, _ contents: inout Contents) {
    if let signal = line.signal { contents.signals.append((place, signal)) }
    guard let number = line.call else { return }
    if let sent = line.sent {
      contents.places[number] = contents.exchanges.count
      contents.exchanges.append(
        Exchange(number: number, call: sent, sentAt: place, answeredAt: .max))
    }
    let answer: Result<CloudReply, CloudError>? =
      line.reply.map { .success($0) } ?? line.error.map { .failure($0) }
    guard let answer, let index = contents.places[number] else { return }
    contents.exchanges[index].answer = answer
    contents.exchanges[index].answeredAt = place
  }

  /// Returns the recorded reply to `call`.
  ///
  /// - Throws: the recorded error; `internalError` when the call differs from the session.
  public func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    let answer = contents.withLock { SessionReplay.answer(to: call, &$0) }
    notifyDueSignals()
    return try answer.get()
  }

  private func notifyDueSignals() {
    guard !listeners.isEmpty else { return }
    for signal in contents.withLock({ $0.takeDueSignals() }) { listeners.notify(signal) }
  }

  private static func answer(
    to call: CloudCall, _ contents: inout Contents
  ) -> Result<CloudReply, CloudError> {
    if call.request == .fetchCurrentUser, let answer = contents.currentUser() { return answer }
    let next = contents.nextCall()
    let end = next.map { contents.exchanges[$0].answeredAt } ?? 0
    // Calls that were sent before the answer to this one were made beside it.
    let match = contents.exchanges[(next ?? contents.exchanges.endIndex)...]
      .prefix { $0.sentAt <= end }
      .firstIndex { $0.isExpected && $0.call.unnamed == call.unnamed }
    guard let match else {
      let message = difference(call, from: next.map { contents.exchanges[$0] })
      if contents.difference == nil { contents.difference = SessionError(description: message) }
      return .failure(CloudError(.internalError, message))
    }
    contents.exchanges[match].isServed = true
    contents.passQuestions(before: contents.exchanges[match].sentAt)
    return contents.exchanges[match].result
  }

  private static func difference(_ call: CloudCall, from recorded: Exchange?) -> String {
    guard let recorded else {
      return """
        The app asks something after the recorded session ended:

        \(call.lines)
        """
    }
    return """
      The app asks something else than in call \(recorded.number) of the recorded session. Record \
      it again, or find out why.
      - is what was recorded, + is what was asked

      \(LineDifference(expected: recorded.call.lines, actual: call.lines).text)
      """
  }

  /// Returns if the complete session was replayed without differences.
  ///
  /// - Throws: `SessionError` with the first difference, or with the missing calls.
  public func check() throws {
    let (difference, left) = contents.withLock { contents in
      (contents.difference, contents.exchanges.filter { $0.isExpected })
    }
    if let difference { throw difference }
    guard let first = left.first else { return }
    throw SessionError(
      description: """
        \(CanonicalText.count(left.count, "call")) of the recorded session were not made; the \
        first is call \(first.number):

        \(first.call.lines)
        """)
  }

  /// Calls `listener` for each signal of the session when the preceding calls have been made.
  public func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    let observation = listeners.add(listener)
    notifyDueSignals()
    return observation
  }
}

extension CloudCall {
  /// The call without its request ID, which differs in every run.
  fileprivate var unnamed: CloudCall {
    var call = self
    call.requestID = ""
    return call
  }

  /// The call as indented JSON.
  fileprivate var lines: String {
    let encoder = SessionLine.encoder
    encoder.outputFormatting.insert(.prettyPrinted)
    guard let data = try? encoder.encode(unnamed) else { return "\(request)" }
    return String(decoding: data, as: UTF8.self)
  }
}
