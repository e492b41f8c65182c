import Foundation

/// The resources that a process holds; `nil` where the system has no files about them.
package struct ProcessFigures: Sendable {
  /// Resident memory in bytes.
  package private(set) var memory: Int?
  /// The most memory so far in bytes.
  package private(set) var peakMemory: Int?
  /// The number of open file descriptors.
  package private(set) var descriptors: Int?
  /// The number of descriptors of each kind.
  package private(set) var kinds: [String: Int] = [:]
  /// The number of threads.
  package private(set) var threads: Int?
  /// Used processor time in seconds.
  package private(set) var processorSeconds: Double?

  /// The figures of the process `id`, or of this one.
  package init(of id: Int32? = nil) {
    let folder = "/proc/\(id.map(String.init) ?? "self")"
    func words(_ name: String) -> [[Substring]] {
      let data = FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data()
      return String(decoding: data, as: UTF8.self).split(separator: "\n")
        .map { $0.split(whereSeparator: \.isWhitespace) }
    }
    for line in words("status") where line.count > 1 {
      if line[0] == "VmRSS:" { memory = Int(line[1]).map { $0 * 1024 } }
      if line[0] == "VmHWM:" { peakMemory = Int(line[1]).map { $0 * 1024 } }
      if line[0] == "Threads:" { threads = Int(line[1]) }
    }
    if let line = words("stat").first, line.count > 14, let user = Double(line[13]),
      let system = Double(line[14])
    {
      processorSeconds = (user + system) / 100
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

  /// The kinds of descriptors as text.
  package var kindText: String {
    kinds.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
  }

  /// The figures of this process after its allocator has returned free memory to the system.
  package static func afterTidying() -> ProcessFigures {
    #if canImport(Glibc)
      // The module map leaves it out.
      if let symbol = dlsym(nil, "malloc_trim") {
        _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
      }
    #endif
    return ProcessFigures()
  }

  /// The memory in MiB as text.
  package var megabytes: String { memory.map { String(($0 + 524_288) >> 20) } ?? "?" }
  /// The number of descriptors as text.
  package var descriptorText: String { descriptors.map(String.init) ?? "?" }
}
