import Synchronization

/// Lets a subject work on a simulated disk, cuts the power behind every step, and opens what is
/// left.
///
/// A scenario is a dozen changes that a seed decides, with the subject closed and opened again in
/// between. Behind each call that changes the disk stands a moment; each moment gives images, each
/// image is opened and has to hold what was acknowledged, with or without the change under way.
/// Then one more change is made, and crashes in the midst of all this are looked at the same way,
/// down to the third recovery.
package struct CrashRun<Subject: CrashSubject> {
  /// The seed of the scenario.
  package var seed: UInt64
  /// The number of crash images of each moment.
  package var imagesPerMoment = 4
  /// The number of changes of a scenario.
  package var steps = 12
  /// Whether the disk lies about synchronization: what a store does that forgets it.
  package var losesSynchronizations = false

  /// A run of the scenario of `seed`.
  package init(seed: UInt64) { self.seed = seed }

  /// A moment, and what may be found after it.
  struct Moment: Sendable {
    var image: DiskImage
    var allowed: [Subject.Contents]
  }

  /// The moments of a disk, with what is allowed while they pass.
  final class ImageRecorder: Sendable {
    private struct State {
      var allowed: [Subject.Contents]
      var moments: [Moment] = []
    }

    private let state: Mutex<State>

    init(allowed: [Subject.Contents], of disk: SimulatedDisk) {
      state = Mutex(State(allowed: allowed))
      disk.observe { [weak self] image in self?.add(image) }
    }

    func add(_ image: DiskImage) {
      state.withLock { $0.moments.append(Moment(image: image, allowed: $0.allowed)) }
    }

    func allow(_ contents: [Subject.Contents]) { state.withLock { $0.allowed = contents } }

    var moments: [Moment] { state.withLock { $0.moments } }
  }

  /// All crash images of the scenario.
  package func images() async -> CrashTally {
    var tally = CrashTally()
    let disk = SimulatedDisk(seed: seed)
    disk.faults.shortWriteRate = 0.05
    disk.faults.losesSynchronizations = losesSynchronizations
    let recorder = ImageRecorder(allowed: [Subject.empty], of: disk)
    do {
      try await play(on: disk, recorder, &tally)
    } catch {
      tally.violate("\(Subject.name) seed \(seed): a whole disk fails: \(error)")
    }
    var random = SeededRandom(seed: seed ^ 0x6372_6173_68)
    for (index, moment) in recorder.moments.enumerated() {
      for image in images(of: moment, &random) {
        await recover(
          image, moment.allowed, depth: 1, "\(Subject.name) seed \(seed) moment \(index)", &random,
          &tally)
      }
    }
    return tally
  }

  private func play(on disk: SimulatedDisk, _ recorder: ImageRecorder, _ tally: inout CrashTally)
    async throws
  {
    var random = SeededRandom(seed: seed)
    var contents = Subject.empty
    var subject = try await Subject(on: disk)
    for step in 0..<steps {
      if random.chance(0.2) {
        await subject.close()
        subject = try await Subject(on: disk)
      }
      let (change, next) = Subject.change(step, of: contents, &random)
      recorder.allow([contents, next])
      try await subject.apply(change)
      recorder.allow([next])
      contents = next
      tally.acknowledged += 1
    }
    let found = try await subject.contents()
    if found != contents { tally.violate("\(Subject.name) seed \(seed): the scenario fails") }
    await subject.close()
    recorder.add(disk.image)
  }

  /// All subsets of few unsynced pieces, and a sample of those of many.
  private func images(of moment: Moment, _ random: inout SeededRandom) -> [DiskImage] {
    let pieces = moment.image.unsyncedPieceCount
    if pieces < 8, 1 << pieces <= imagesPerMoment {
      return (0..<UInt64(1) << UInt64(pieces)).map { moment.image.afterCrash(pieces: $0) }
    }
    return (0..<imagesPerMoment).map { _ in moment.image.afterCrash(seed: random.next()) }
  }

  /// Opens an image, makes one change, and does the same to what a crash in the midst of it leaves.
  private func recover(
    _ image: DiskImage, _ allowed: [Subject.Contents], depth: Int, _ story: String,
    _ random: inout SeededRandom, _ tally: inout CrashTally
  ) async {
    tally.byDepth[depth - 1] += 1
    let disk = SimulatedDisk(image: image, seed: random.next())
    let found = await change(
      1_000 + depth, on: disk, allowed, "\(story) depth \(depth)", &random, &tally)
    guard depth < 3, let found else { return }
    let moment = random.pick(found.moments)
    await recover(
      moment.image.afterCrash(seed: random.next()), moment.allowed, depth: depth + 1, story,
      &random, &tally)
  }

  /// Opens the disk of an image, which has to hold what is allowed, and makes one more change.
  ///
  /// - Returns: The moments of the disk, and its image and the contents right after the change;
  ///   `nil` for a violation.
  func change(
    _ number: Int, on disk: SimulatedDisk, _ allowed: [Subject.Contents], _ story: String,
    _ random: inout SeededRandom, _ tally: inout CrashTally
  ) async -> (moments: [Moment], image: DiskImage, contents: Subject.Contents)? {
    tally.images += 1
    let recorder = ImageRecorder(allowed: allowed, of: disk)
    do {
      let subject = try await Subject(on: disk)
      let found = try await subject.contents()
      guard allowed.contains(found) else {
        tally.violate("\(story): an acknowledged change is lost")
        return nil
      }
      let (change, next) = Subject.change(number, of: found, &random)
      recorder.allow([found, next])
      try await subject.apply(change)
      recorder.allow([next])
      let image = disk.image
      recorder.add(image)
      await subject.close()
      return (recorder.moments, image, next)
    } catch {
      tally.violate("\(story): does not open: \(error)")
      return nil
    }
  }
}
