extension DiskFile {
  /// Writes all of `bytes` at the end, in as many steps as the disk needs.
  package func append(all bytes: [UInt8]) throws(DiskError) {
    try inSteps(bytes[...]) { (rest, _) throws(DiskError) in try append(rest) }
  }

  /// Writes all of `bytes` from `offset` on, in as many steps as the disk needs.
  package func write(all bytes: ArraySlice<UInt8>, at offset: Int) throws(DiskError) {
    try inSteps(bytes) { (rest, done) throws(DiskError) in try write(rest, at: offset + done) }
  }

  /// Calls `step` with the bytes that are left and the number of those that are written.
  private func inSteps(
    _ bytes: ArraySlice<UInt8>,
    _ step: (UnsafeRawBufferPointer, _ done: Int) throws(DiskError) -> Int
  ) throws(DiskError) {
    try bytes.withUnsafeBufferPointer { (buffer) throws(DiskError) in
      let buffer = UnsafeRawBufferPointer(buffer)
      var done = 0
      while done < buffer.count {
        done += try step(UnsafeRawBufferPointer(rebasing: buffer[done...]), done)
      }
    }
  }

  /// The bytes from `offset` on, at most `count` of them; fewer only at the end of the file.
  package func read(upToCount count: Int, at offset: Int) throws(DiskError) -> [UInt8] {
    var failure: DiskError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(DiskError) {
        while filled < count {
          let rest = UnsafeMutableRawBufferPointer(
            rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
          let more = try read(into: rest, at: offset + filled)
          if more == 0 { return }
          filled += more
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }
}
