import Disk

/// Has each call of the disk fail, one after the other.
extension CrashRun {
  /// The scenario once more for each of its calls and each kind of failure.
  ///
  /// - Parameter stride: 1 for every call, n for every nth.
  package func failures(stride: Int = 1) async -> CrashTally {
    var tally = CrashTally()
    let whole = SimulatedDisk(seed: seed)
    _ = await struggle(on: whole, &tally, "")
    var number = 1 + Int(seed % UInt64(stride))
    while number <= whole.operationCount {
      for error in [DiskError.failed, .full] {
        for isForEver in [false, true] {
          for keepsCache in [true, false] {
            let disk = SimulatedDisk(seed: seed)
            disk.faults.failures = [.init(at: number, isForEver: isForEver, error: error)]
            disk.faults.keepsCacheAfterFailure = keepsCache
            tally.failures += 1
            let story =
              "\(Subject.name) seed \(seed) call \(number) fails \(isForEver ? "for ever" : "once")"
              + " (\(error), cache \(keepsCache ? "kept" : "dropped"))"
            let allowed = await struggle(on: disk, &tally, story)
            await check(disk.image.afterCrash(seed: seed &+ UInt64(number)), allowed, story, &tally)
            // After a failed synchronization nobody can tell what a kept cache is worth once the
            // process that saw the failure is gone.
            await check(disk.image, allowed, story + ", restarted", &tally)
          }
        }
      }
      number += stride
    }
    return tally
  }

  /// Plays the scenario on a disk that fails somewhere; returns what may be there afterwards.
  private func struggle(
    on disk: SimulatedDisk, _ tally: inout CrashTally, _ story: String
  ) async -> [Subject.Contents] {
    var random = SeededRandom(seed: seed)
    var allowed = [Subject.empty]
    var subject: Subject?
    var step = 0
    var openings = 0
    while step < steps, openings < steps + 3 {
      do {
        if subject == nil {
          openings += 1
          let opened = try await Subject(on: disk)
          let found = try await opened.contents()
          guard allowed.contains(found) else {
            tally.violate("\(story): reopened, an acknowledged change is lost")
            return allowed
          }
          subject = opened
          // What is shown now may still not be on the disk; a change behind it makes it so.
          allowed = [found] + allowed.filter { $0 != found }
        }
        guard let subject, let base = allowed.first else { return allowed }
        let (change, next) = Subject.change(step, of: base, &random)
        step += 1
        allowed.append(next)
        try await subject.apply(change)
        allowed = [next]
      } catch {
        if !Subject.isTyped(error) { tally.violate("\(story): untyped error \(error)") }
        guard let failed = subject else { continue }
        if Subject.refusesAfterFailure {
          let (change, _) = Subject.change(2_000, of: allowed[0], &random)
          if (try? await failed.apply(change)) != nil {
            tally.violate("\(story): a change is acknowledged after a failure")
          }
          await failed.close()
          subject = nil
        } else if let found = try? await failed.contents() {
          if !allowed.contains(found) { tally.violate("\(story): shows what was never there") }
          allowed = [found] + allowed.filter { $0 != found }
        }
      }
    }
    await subject?.close()
    return allowed
  }

  /// Opens what was left, on a disk that is whole again, and makes a change that has to stay.
  private func check(
    _ image: DiskImage, _ allowed: [Subject.Contents], _ story: String, _ tally: inout CrashTally
  ) async {
    tally.byDepth[0] += 1
    let disk = SimulatedDisk(image: image, seed: seed)
    var random = SeededRandom(seed: seed)
    guard let found = await change(3_000, on: disk, allowed, story, &random, &tally) else { return }
    do {
      let after = SimulatedDisk(image: found.image.afterCrash(seed: seed), seed: seed)
      let last = try await Subject(on: after)
      if try await last.contents() != found.contents {
        tally.violate("\(story): the next change is lost")
      }
      await last.close()
    } catch {
      tally.violate("\(story): does not open: \(error)")
    }
  }
}
