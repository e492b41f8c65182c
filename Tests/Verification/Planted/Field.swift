import Foundation
import Synchronization

/// Runs every fault's programmes on several cores.
final class Field: Sendable {
  private let options: Options
  private let program: URL
  private let end: Date

  /// - Parameter program: The tool with the faults in it.
  init(_ options: Options, program: URL) {
    self.options = options
    self.program = program
    end = Date(timeIntervalSinceNow: Double(options.seconds))
  }

  /// What each fault's programmes made of it, in the order of `jobs`; a programme is only run when
  /// those before it found nothing.
  func run(
    _ jobs: [(number: Int, programmes: [Programme])], seeds: Int,
    done: @escaping @Sendable (Int, [Verdict]) -> Void
  ) -> [[Verdict]] {
    struct Progress {
      var next = 0
      var verdicts: [[Verdict]]
    }
    let progress = Mutex(Progress(verdicts: jobs.map { _ in [] }))
    DispatchQueue.concurrentPerform(iterations: min(options.jobs, max(1, jobs.count))) { _ in
      while true {
        let index = progress.withLock { progress in
          defer { progress.next += 1 }
          return progress.next
        }
        guard index < jobs.count else { return }
        var verdicts: [Verdict] = []
        for programme in jobs[index].programmes {
          let verdict = checked(
            run(programme, fault: jobs[index].number, seeds: seeds), fault: jobs[index].number)
          verdicts.append(verdict)
          if verdict.isFound { break }
        }
        progress.withLock { $0.verdicts[index] = verdicts }
        done(index, verdicts)
      }
    }
    return progress.withLock { $0.verdicts }
  }

  /// The verdict, unless the world that it is about breaks a promise without the fault as well.
  private func checked(_ verdict: Verdict, fault number: Int) -> Verdict {
    guard verdict.isFound, number != 0 else { return verdict }
    let last = verdict.seeds - 1
    let control = run(verdict.programme, fault: 0, seeds: 1, from: last)
    guard !control.isHealthy else { return verdict }
    var verdict = verdict
    verdict.end = .failure("world \(last) is no better without the fault")
    return verdict
  }

  private func run(
    _ programme: Programme, fault number: Int, seeds: Int, from first: Int = 0
  ) -> Verdict {
    let left = Int(end.timeIntervalSinceNow)
    do {
      let outcome =
        left < 1
        ? Run.Outcome(status: -SIGKILL, output: "", tookTooLong: true)
        : try Run.wait(
          for: [program.path] + programme.arguments
            + ["--until-violation", "--seeds", "\(seeds)", "--from", "\(first)"],
          environment: [Planter.variable: "\(number)"], seconds: min(left, options.runSeconds))
      return Verdict(programme, outcome)
    } catch {
      return Verdict(programme, Run.Outcome(status: 2, output: "\(error)"))
    }
  }
}
