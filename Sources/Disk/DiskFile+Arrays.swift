extension DiskFile {
  /// Writes all of `bytes` at the end, in as many steps as the disk needs.
  package func append(all bytes: [UInt8]) throws(DiskError) {
    let result: Result<Void, DiskError> = bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      do throws(DiskError) {
        while !rest.isEmpty {
          rest = rest.dropFirst(try append(UnsafeRawBufferPointer(rebasing: rest)))
        }
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  /// Writes all of `bytes` from `offset` on, in as many steps as the disk needs.
  package func write(all bytes: ArraySlice<UInt8>, at offset: Int) throws(DiskError) {
    let result: Result<Void, DiskError> = bytes.withUnsafeBytes { buffer in
      var done = 0
      do throws(DiskError) {
        while done < buffer.count {
          done += try write(UnsafeRawBufferPointer(rebasing: buffer[done...]), at: offset + done)
        }
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
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
