package import Foundation
import Synchronization

/// A program to start, with its arguments, environment and standard streams.
package struct ToolProcess {
  /// The program.
  package var program: URL
  /// Its arguments.
  package var arguments: [String]
  /// Its environment variables.
  package var environment: [String: String]
  /// Its current folder; `nil` for that of this process.
  package var folder: URL?
  /// Its standard input; `nil` for an empty one.
  package var input: FileHandle?
  /// Its standard output; `nil` discards it.
  package var output: FileHandle?
  /// Its standard error; `nil` discards it.
  package var errors: FileHandle?

  /// Describes a program with the variables of this process, unless others are given.
  package init(
    program: URL, arguments: [String] = [],
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    self.program = program
    self.arguments = arguments
    self.environment = environment
  }

  /// Starts the program.
  package func start() throws -> StartedProcess {
    var words = [program.path] + arguments
    if let folder {
      words = ["/bin/sh", "-c", "cd \"$1\" && shift && exec \"$@\"", "sh", folder.path] + words
    }
    let none = FileHandle.nullDevice.fileDescriptor
    return StartedProcess(
      try spawn(
        words, environment: environment, input: input?.fileDescriptor ?? none,
        output: output?.fileDescriptor ?? none, errors: errors?.fileDescriptor ?? none))
  }
}

/// A process that was started; its end is noted when it comes.
package final class StartedProcess: Sendable {
  /// The process ID.
  package let id: Int32
  private let state = Mutex(State())

  private struct State {
    var code: CInt?
    var waiting: [CheckedContinuation<CInt, Never>] = []
  }

  fileprivate init(_ id: Int32) {
    self.id = id
    Thread.detachNewThread { self.wait() }
  }

  private func wait() {
    var status: CInt = 0
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7f
    let code = signal == 0 ? (status >> 8) & 0xff : -signal
    let waiting = state.withLock { state in
      state.code = code
      defer { state.waiting = [] }
      return state.waiting
    }
    for one in waiting { one.resume(returning: code) }
  }

  /// The exit code, or the signal with a minus sign; `nil` while the process runs.
  package var status: CInt? { state.withLock { $0.code } }

  /// Sends a signal, unless the process has ended.
  package func send(_ signal: CInt) {
    state.withLock { state in
      if state.code == nil { kill(id, signal) }
    }
  }

  /// Waits for the end; the exit code, or the signal with a minus sign.
  package func exitCode() async -> CInt {
    await withCheckedContinuation { one in
      let code = state.withLock { state in
        if state.code == nil { state.waiting.append(one) }
        return state.code
      }
      if let code { one.resume(returning: code) }
    }
  }
}
