import CommandLineKit
import Foundation

/// Starts a program with three descriptors; everything else that is open here is closed there.
///
/// Foundation's `Process` leaves a run loop with its descriptors on each thread that starts one,
/// takes a process for running as long as another one has its descriptors, and on Linux reads past
/// the end of a buffer in a program with many open files.
///
/// - Parameters:
///   - words: The path of the program, and its arguments.
///   - environment: Its variables; `nil` for those of this process.
/// - Returns: The process ID.
package func spawn(
  _ words: [String], environment: [String: String]? = nil, input: Int32, output: Int32,
  errors: Int32 = 2
) throws -> Int32 {
  #if canImport(Darwin)
    var actions: posix_spawn_file_actions_t?
    var attributes: posix_spawnattr_t?
  #else
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
  #endif
  posix_spawn_file_actions_init(&actions)
  posix_spawnattr_init(&attributes)
  defer {
    posix_spawn_file_actions_destroy(&actions)
    posix_spawnattr_destroy(&attributes)
  }
  for (number, descriptor) in [input, output, errors].enumerated() {
    posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
  }
  for descriptor in 3..<Int32(clamping: min(4_096, sysconf(Int32(_SC_OPEN_MAX)))) {
    #if canImport(Darwin)
      // There it is an error to close what is not open.
      guard fcntl(descriptor, F_GETFD) >= 0 else { continue }
    #endif
    posix_spawn_file_actions_addclose(&actions, descriptor)
  }
  // What runs with nohup ignores a hangup, and so would all that it starts.
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGHUP)
  posix_spawnattr_setsigdefault(&attributes, &signals)
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
  let variables = (environment ?? ProcessInfo.processInfo.environment).map { "\($0)=\($1)" }
  var arguments = words.map { strdup($0) } + [nil]
  var settings = variables.map { strdup($0) } + [nil]
  defer { for text in arguments + settings { free(text) } }
  var id: Int32 = 0
  let error = posix_spawn(&id, words[0], &actions, &attributes, &arguments, &settings)
  guard error == 0 else { throw ToolError("\(words[0]) can't be started: error \(error)") }
  return id
}
