#if CLOUDSYNC_FUZZ
  import Foundation

  /// The target that `CLOUDSYNC_FUZZ_TARGET` names.
  private let target: FuzzTarget = {
    let environment = ProcessInfo.processInfo.environment
    let name = environment["CLOUDSYNC_FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
      print("CLOUDSYNC_FUZZ_TARGET must be one of:")
      for target in FuzzTarget.all { print(target.name) }
      exit(64)
    }
    return target
  }()

  private let isPlanted = ProcessInfo.processInfo.environment["CLOUDSYNC_FUZZ_PLANTED"] == "1"

  /// The function that libFuzzer calls with each input.
  @_cdecl("LLVMFuzzerTestOneInput")
  public func fuzzOne(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = FuzzInput(Array(UnsafeBufferPointer(start: bytes, count: count)))
    do {
      try target.run(input, isPlanted)
    } catch {
      FileHandle.standardError.write(Data("\nbroken rule: \(error)\n".utf8))
      abort()
    }
    return 0
  }
#endif
