import Synchronization

/// Marks the tasks that run in a delegate callback, so that a call that would wait for its own
/// callback throws instead of deadlocking.
///
/// Tasks created in a callback inherit the mark; it is valid only while the callback runs.
/// See CE-14.
final class CallbackMark: Sendable {
  @TaskLocal static var current: CallbackMark?

  private let isRunning = Atomic(true)
  private let question: BatchQuestion?

  private init(_ question: BatchQuestion?) { self.question = question }

  /// Whether the calling task belongs to a callback that has not returned.
  static var isInsideCallback: Bool {
    current?.isRunning.load(ordering: .acquiring) ?? false
  }

  /// The question for a batch that the calling task answers.
  static var question: BatchQuestion? { isInsideCallback ? current?.question : nil }

  /// Runs `body` as a callback, which may answer a question for a batch.
  static func run<Value>(
    _ question: BatchQuestion? = nil, _ body: () async -> Value
  ) async -> Value {
    let mark = CallbackMark(question)
    let value = await $current.withValue(mark) { await body() }
    mark.isRunning.store(false, ordering: .releasing)
    return value
  }
}
