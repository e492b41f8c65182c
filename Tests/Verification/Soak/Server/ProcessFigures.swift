import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// What a process holds; `nil` where the system does not tell.
struct ProcessFigures: Sendable {
  /// Resident memory in bytes.
  var memory: Int?
  /// Open file descriptors.
  var descriptors: Int?
  /// How many descriptors there are of what.
  var kinds: [String: Int] = [:]
  /// Threads.
  var threads: Int?

  /// Looks at the process `id`, or at this one.
  init(of id: Int32? = nil) {
    let folder = "/proc/\(id.map(String.init) ?? "self")"
    guard let status = FileManager.default.contents(atPath: folder + "/status") else { return }
    for line in String(decoding: status, as: UTF8.self).split(separator: "\n") {
      let words = line.split(whereSeparator: \.isWhitespace)
      guard words.count > 1, let number = Int(words[1]) else { continue }
      if words[0] == "VmRSS:" { memory = number * 1024 }
      if words[0] == "Threads:" { threads = number }
    }
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder + "/fd") else {
      return
    }
    descriptors = names.count
    for name in names {
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "\(folder)/fd/\(name)")
      let kind = target?.prefix { $0 != "[" && $0 != "(" } ?? "closed"
      kinds[String(kind), default: 0] += 1
    }
  }

  /// What the descriptors are, for people.
  var kindText: String {
    kinds.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
  }

  /// Looks at this process after it gave back what it has no use for.
  static func afterTidying() -> ProcessFigures {
    #if canImport(Glibc)
      // The module map leaves it out.
      if let symbol = dlsym(nil, "malloc_trim") {
        _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
      }
    #endif
    return ProcessFigures()
  }

  /// The memory in megabytes, for people.
  var megabytes: String { memory.map { String(($0 + 524_288) >> 20) } ?? "?" }
  /// The descriptors, for people.
  var descriptorText: String { descriptors.map(String.init) ?? "?" }
}
