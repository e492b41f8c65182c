import Foundation

/// The memory that the process has in use, as its allocator counts it.
enum Memory {
  #if canImport(Glibc)
    private typealias MallocInfo = @convention(c) (Int32, UnsafeMutableRawPointer) -> Int32
  #endif

  /// Bytes handed out and not given back; 0 where the system does not tell.
  static var bytesInUse: Int {
    #if canImport(Glibc)
      guard let file = tmpfile() else { return 0 }
      defer { fclose(file) }
      guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "malloc_info") else { return 0 }
      _ = unsafeBitCast(symbol, to: MallocInfo.self)(0, UnsafeMutableRawPointer(file))
      rewind(file)
      var text = [UInt8](repeating: 0, count: 1 << 20)
      let length = fread(&text, 1, text.count, file)
      return bytesInUse(toldBy: String(decoding: text[..<length], as: UTF8.self))
    #else
      return 0
    #endif
  }

  /// The same, once what was let go before is given back.
  static func settledBytesInUse() async throws -> Int {
    var last = bytesInUse
    for _ in 0..<20 {
      try await Task.sleep(for: .milliseconds(50))
      let now = bytesInUse
      // Looking itself takes a little.
      if abs(now - last) < 100_000 { return now }
      last = now
    }
    return last
  }

  /// The numbers for the whole process stand behind those of the single heaps.
  private static func bytesInUse(toldBy report: String) -> Int {
    let whole = report[
      (report.range(of: "</heap>", options: .backwards)?.upperBound
        ?? report.startIndex)...]
    func size(_ element: String) -> Int {
      guard let start = whole.range(of: element),
        let size = whole[start.upperBound...].range(of: "size=\"")
      else { return 0 }
      return Int(whole[size.upperBound...].prefix { $0 != "\"" }) ?? 0
    }
    return size("system type=\"current\"") + size("total type=\"mmap\"")
      - size("total type=\"fast\"") - size("total type=\"rest\"")
  }
}

extension Side {
  /// A side that says how much memory what `make` makes takes, `excess` bytes aside, for each of
  /// `count` elements.
  init<Context, Value>(
    _ name: String, bytesFor count: Int, excess: Int = 0,
    setUp: @escaping @Sendable () throws -> Context,
    make: @escaping @Sendable (Context) throws -> Value
  ) {
    self.init(name, operations: count) {
      let context = try setUp()
      let before = try await Memory.settledBytesInUse()
      let value = try make(context)
      let bytes = Memory.bytesInUse - before - excess
      keep((context, value))
      return .nanoseconds(bytes)
    }
  }
}
