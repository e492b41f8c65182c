#if !canImport(Darwin)
  public import Foundation

  /// Foundation off Apple's platforms has no asynchronous sequence of notifications, and code that
  /// waits for `.CKAccountChanged` is written with it.
  extension NotificationCenter {
    /// A sequence of the notifications of one name.
    public final class Notifications: AsyncSequence, Sendable {
      /// A notification.
      public typealias Element = Notification

      /// The iterator.
      public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var posted: AsyncStream<Posted>.AsyncIterator
        /// Observes during the iteration.
        fileprivate let source: Notifications

        /// The next notification; `nil` when the task is cancelled.
        public mutating func next() async -> Notification? { await posted.next()?.notification }
      }

      /// A notification from the poster's thread.
      ///
      /// Unchecked: a notification never changes after it was posted.
      fileprivate struct Posted: @unchecked Sendable {
        var notification: Notification
      }

      /// Unchecked: a token is only returned to the center, which locks.
      private struct Observation: @unchecked Sendable {
        var token: any NSObjectProtocol
      }

      private let center: NotificationCenter
      private let posted: AsyncStream<Posted>
      private let observation: Observation

      fileprivate init(
        _ center: NotificationCenter, _ name: Notification.Name, _ object: AnyObject?
      ) {
        let (posted, continuation) = AsyncStream.makeStream(of: Posted.self)
        self.center = center
        self.posted = posted
        observation = Observation(
          token: center.addObserver(forName: name, object: object, queue: nil) { notification in
            continuation.yield(Posted(notification: notification))
          })
      }

      deinit { center.removeObserver(observation.token) }

      /// Iterates over the notifications since the call of `notifications(named:object:)`.
      public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(posted: posted.makeAsyncIterator(), source: self)
      }
    }

    /// The notifications called `name`, of one poster or of all, from this call on.
    ///
    /// - Parameters:
    ///   - name: Which notifications.
    ///   - object: The poster; `nil` for any.
    public func notifications(
      named name: Notification.Name, object: AnyObject? = nil
    ) -> NotificationCenter.Notifications {
      Notifications(self, name, object)
    }
  }
#endif
