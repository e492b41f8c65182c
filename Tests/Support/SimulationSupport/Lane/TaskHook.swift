import Foundation

/// Brings tasks that are made on a lane's thread onto that lane, and leaves all others alone.
///
/// The Swift runtime asks one function, which anybody may set, before it hands a job to its own
/// threads. Ours looks whether the thread it is called on works for a ``SerialLane``. Whatever a
/// job starts is started on the thread that runs the job, so a world that begins on a lane stays
/// there, without a word of it in the code under test.
package enum TaskHook {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

  private static let lanes: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// Whether the hook is set; it is set once for the whole process and stays.
  private static let isInstalled: Bool = {
    guard lanes != nil, let place = dlsym(dlopen(nil, RTLD_NOW), "swift_task_enqueueGlobal_hook")
    else { return false }
    place.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
      guard let lane = TaskHook.lane else { return original(job) }
      lane.catchEscaped(job)
    }
    return true
  }()

  /// Whether this thread works for a lane.
  package static var isOnLane: Bool { lane != nil }

  /// The lane this thread works for.
  private static var lane: SerialLane? {
    guard let lanes, let pointer = pthread_getspecific(lanes) else { return nil }
    return Unmanaged<SerialLane>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Runs `body` on this thread as the thread of `lane`.
  ///
  /// - Throws: ``LaneError`` when this runtime has no hook, as when it is linked statically.
  package static func with(_ lane: SerialLane, _ body: () -> Void) throws(LaneError) {
    guard isInstalled, let lanes else { throw .hasNoHook }
    let before = pthread_getspecific(lanes)
    guard pthread_setspecific(lanes, Unmanaged.passUnretained(lane).toOpaque()) == 0 else {
      throw .hasNoHook
    }
    defer { pthread_setspecific(lanes, before) }
    withExtendedLifetime(lane, body)
  }
}

/// Why a lane can't be used.
package enum LaneError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The Swift runtime of this process can't be asked to bring its jobs here.
  case hasNoHook

  /// One sentence for people.
  package var description: String {
    "this Swift runtime lets nobody order its tasks, so no world can be repeated; link the "
      + "standard library dynamically"
  }
}
