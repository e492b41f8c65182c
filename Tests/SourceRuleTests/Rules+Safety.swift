/// The drivers: the only files of Sources, and of what verifies them, that may start a task, a
/// thread or a timer, each with the reason a reviewer accepted.
let drivers: KeyValuePairs = [
  "Sources/DurableFiles/Journal.swift":
    "decodes lines side by side while the caller waits; the order of the lines decides alone",
  "Sources/CloudSync/Container/CompletionHandlers.swift":
    "a completion handler is called by a task that awaits the answer",
  "Sources/CloudSync/Engine/EngineDriver.swift":
    "the pump, the requests and the timer of an engine; made in one function",
  "Sources/CloudSync/Transport/PushListener.swift":
    "the line on which pushes of one container are waited for",
  "Sources/CloudSyncTesting/Conformance/SerialTaskExecutor.swift":
    "the queue on which one scenario of the suite for delegates runs",
  "Sources/LoopbackHTTP/Driver/HTTPEventLoop.swift":
    "the thread of a server's sockets, and the tasks of handlers",
  "Sources/LoopbackHTTP/Routes/WebCourier.swift":
    "ends the waiting of a device after a while of an injected clock",
  "Sources/LoopbackServer/LoopbackServer+ForeignChanges.swift":
    "looks for another process's changes at each tick of an injected clock",
  "Sources/LoopbackServer/Storage/PostgreSQL/PostgreSQLNotifier.swift":
    "the queue that sends notifications, and the thread that waits for them",
  "Sources/SyncedStore/EngineAdditions.swift":
    "follows the fetches and sends of the engine itself, until its end",
  "Sources/SyncedStore/SyncedStore+Events.swift":
    "a fetch that tells what became of a zone, and is cancelled with the store's sync",
  "Sources/SyncedStore/SyncedStore+Run.swift":
    "ends an engine without waiting in one of its callbacks",
  "Sources/CloudSyncTool/Server/ChildProcess.swift":
    "waits for the command of exec to end",
  "Sources/CloudSyncTool/Server/RequestLog.swift":
    "writes the lines of a log, for which no request waits",
  "Sources/CloudSyncTool/Server/RunningServer.swift":
    "prints what becomes of the storage, for which no request waits",
  "Sources/CloudSyncTool/Server/ReceivedSignals.swift":
    "reads the signals that were caught",
  "Tests/Support/VerificationSupport/SeedOptions.swift":
    "spreads independent worlds and processes over the cores",
  "Tests/Support/VerificationSupport/ToolProcess.swift":
    "waits for the end of a program",
  "Tests/Verification/Planted/ProcessOutcome.swift":
    "ends a process that takes too long",
  "Sources/CloudSync/Transport/HTTP/LoopbackConnectionPool.swift":
    "connections to servers of this machine, each waited for on a thread",
  "Tests/Benchmarks/Spike/SpikeSocket.swift":
    "the server of the bare spike, on a thread of its own",
  "Tests/Support/SimulationSupport/Executor/SeededExecutor.swift":
    "the first task of an executor, which the executor itself runs",
  "Tests/Support/SimulationSupport/EngineSimulation/Sharing/EngineWorld+Sharing.swift":
    "what users of a world do about shares, on its executor",
  "Tests/Support/SimulationSupport/EngineSimulation/World/EngineWorld+Actions.swift":
    "what the people of a world do, on its executor",
  "Tests/Support/SimulationSupport/EngineSimulation/World/EngineWorld+Network.swift":
    "messages under way, on the world's executor",
  "Tests/Support/StoreSimulation/Stores/SimulatedAnnotations.swift":
    "what begins when an app opens, on the world's executor",
  "Tests/Support/StoreSimulation/Stores/SimulatedLeaderboards.swift":
    "what begins when an app opens, on the world's executor",
  "Tests/Support/StoreSimulation/World/StoreWorld+Actions.swift":
    "what the people of a world of stores do, on its executor",
  "Tests/Benchmarks/Throughput/Benchmarks+Queries.swift":
    "asks for long queries beside lookups, whose client blocks a thread",
  "Tests/Benchmarks/Throughput/BenchServer.swift":
    "clients that block, each on a thread",
  "Tests/Benchmarks/Throughput/Once.swift":
    "makes a value that several benchmarks share",
  "Tests/Verification/Soak/Probe/PushTimes.swift":
    "ends the wait for a push that does not come",
  "Tests/Verification/Soak/Relay/Relay.swift":
    "moves the bytes of all connections that are interrupted",
  "Tests/Verification/Siege/TestedServer.swift":
    "hostile and slow clients beside each other, and one that must not notice",
]

/// The files whose tasks take their parent's executor without a word, each with the reason.
let inheritingTasks: KeyValuePairs = [
  "Sources/CloudSync/Assets/AssetTransport.swift":
    "the files of one request: children of the task that sends it",
  "Sources/LoopbackHTTP/Control/ControlRoutes+Events.swift":
    "the two ends of one wait: children of the task that answers the request",
]

/// Words one of which says what makes an unchecked conformance safe.
private let guardWords = ["guard", "lock", "mutex", "immutable", "never changes", "serial"]

extension SourceRule {
  static let safetyRules: [SourceRule] = [
    SourceRule(
      name: "Only the listed drivers start tasks, threads and timers",
      check: { $0.driverFaults(drivers: drivers.map(\.key)) },
      broken: [
        fault("let a = Task { f() }", at: 1, in: "Sources/CloudSync/A.swift"),
        fault("Task(priority: .low) { f() }", at: 1, in: "Sources/CloudSync/A.swift"),
        fault("\nTask.detached { f() }", at: 2, in: "Sources/CloudSync/A.swift"),
        fault("DispatchQueue.main.async {}", at: 1, in: "Sources/CloudSync/A.swift"),
        fault("Timer(timeInterval: 1)", at: 1, in: "Sources/CloudSync/A.swift"),
        fault("Thread.detachNewThread {}", at: 1, in: "Sources/CloudSync/A.swift"),
      ],
      kept: [
        ["Sources/CloudSync/A.swift": "// Task { }\nlet a: Task<Void, Never>\nTask.isCancelled"],
        ["Tests/A/A.swift": "Task { f() }"],
        [drivers[0].key: "Task { f() }"],
      ]),

    SourceRule(
      name: "Every task of the product takes the executor it is given",
      check: { $0.escapingTasks(inheriting: inheritingTasks.map(\.key)) },
      broken: [
        fault("let a = Task { f() }", at: 1, in: "Sources/CloudSync/A.swift"),
        fault(
          "\nTask.detached(priority: .low) { f() }", at: 2, in: "Sources/LoopbackServer/A.swift"),
        fault("group.addTask { f() }", at: 1, in: "Sources/LoopbackHTTP/A.swift"),
        fault("async let a = f()", at: 1, in: "Sources/CloudSync/A.swift"),
      ],
      kept: [
        [
          "Sources/CloudSync/A.swift":
            "Task(executorPreference: a) { f() }\nTask.detached(\n  executorPreference: a) {}"
        ],
        ["Sources/CloudSyncTool/A.swift": "Task { f() }"],
        [inheritingTasks[0].key: "group.addTask { f() }"],
      ]),

    SourceRule(
      name: "Every listed driver is there and is one",
      check: { $0.idleDrivers(drivers.map(\.key)) },
      broken: [
        ([:], drivers.map(\.key)),
        (tree(of: drivers.map(\.key), "f()"), drivers.map(\.key)),
      ],
      kept: [tree(of: drivers.map(\.key), "Task { f() }")]),

    SourceRule(
      "No `try!` and no `as!`",
      files: { $0.programs + $0.swift(under: "Examples") },
      broken: [
        fault("let a = try! f()", at: 1),
        fault("\n\"\\(a as! Int)\"", at: 2, in: "Examples/A/A.swift"),
      ],
      kept: [["Sources/A/A.swift": "// try!\ntry f()\nlet b = \"as!\"\na as? Int\nif a != b {}"]]
    ) { $0.faults(["try!", "as!"], "handle the failure, or show by a type that there is none") },

    SourceRule(
      "A program ends with `Output.end`",
      files: { $0.swift(under: "Sources") + $0.swift(under: "Examples") },
      broken: [
        fault("exit(0)", at: 1),
        fault("\nf { exit(1) }", at: 2, in: "Examples/A/A.swift"),
      ],
      kept: [["Sources/A/A.swift": "// exit(\n_exit(0)\nOutput.end(0)\nlet a = exitCode()"]]
    ) { $0.faults(["exit("], "other threads may use what `exit` frees: use `Output.end`") },

    SourceRule(
      "An unchecked Sendable says right above what guards it",
      files: { $0.swift() },
      broken: [
        fault("class A: @unchecked Sendable {}", at: 1),
        fault("/// A.\nclass A: @unchecked Sendable {}", at: 2, in: "Tests/A/A.swift"),
        fault("// Guarded by a lock.\n\nclass A: @unchecked Sendable {}", at: 3),
      ],
      kept: [
        [
          "Sources/A/A.swift":
            "// The queue's lock guards `a`.\nfinal class A: @unchecked Sendable {}"
        ],
        [
          "Sources/A/A.swift":
            "/// A.\n///\n/// Immutable.\n@B final class A:\n  C, @unchecked Sendable\n{}"
        ],
      ]
    ) { file in
      file.occurrences(of: "@unchecked").compactMap { index in
        let isDeclaration = { (word: Int) in
          ["class", "struct", "enum", "extension"].contains(file.tokens[word].text)
        }
        guard let keyword = (0..<index).last(where: isDeclaration) else { return nil }
        let line = file.tokens[file.start(ofDeclarationAt: keyword)].line
        let comment = file.commentLines(above: line).compactMap { file.comments[$0] }.joined()
          .lowercased()
        guard !guardWords.contains(where: comment.contains) else { return nil }
        return file.fault(line, "say in a comment right above what guards it")
      }
    },

    SourceRule(
      "Nothing is left for later in a comment or a trap",
      files: { $0.swift() },
      broken: [
        (["Sources/A/A.swift": "// TO" + "DO: more"], ["Sources/A/A.swift:1"]),
        (["Tests/A/A.swift": "/* a\n FIX" + "ME */"], ["Tests/A/A.swift:2"]),
        fault("fatalError(\"unimplemented\")", at: 1),
        fault("preconditionFailure(\"Not implemented\")", at: 1, in: "Tests/A/A.swift"),
      ],
      kept: [["Sources/A/A.swift": "// to do\nfatalError(\"the index is out of range\")"]]
    ) { $0.leftForLater() },
  ]

  private static func tree(of paths: [String], _ text: String) -> SourceTree {
    SourceTree(files: paths.map { SourceFile(path: $0, text: text) })
  }
}

/// The calls that start a task, a thread or a timer.
private let starts = [
  "Task {", "Task(", "Task.detached", "Task.immediate", "DispatchQueue", "DispatchSource",
  "Timer", "Thread(", "Thread {", "Thread.detachNewThread", "pthread_create",
]

/// The modules that simulations run whole.
private let simulatedModules = [
  "Sources/CloudSync", "Sources/LoopbackServer", "Sources/LoopbackHTTP",
]

extension SourceTree {
  /// The places that start a task without an executor.
  fileprivate func escapingTasks(inheriting: [String]) -> [Fault] {
    simulatedModules.flatMap { swift(under: $0) }.flatMap { file -> [Fault] in
      let bare = ["Task {", "Task(", "Task.detached", "Task.immediate"].flatMap { start in
        file.occurrences(of: start).filter { index in
          !file.tokens[index...].prefix(6).contains { $0.text == "executorPreference" }
        }
      }
      let children = ["addTask", "async let"].flatMap { file.occurrences(of: $0) }
      let escapes = inheriting.contains(file.path) ? bare : bare + children
      return escapes.sorted().map {
        file.fault(
          file.tokens[$0].line, "give it the executor, or list the file and say what it inherits")
      }
    }
  }

  /// The places that start something outside the files at `drivers`.
  fileprivate func driverFaults(drivers: [String]) -> [Fault] {
    programs.filter { !drivers.contains($0.path) }.flatMap {
      $0.faults(starts, "leave it to a driver, or list this file as one")
    }
  }

  /// The `drivers` that do not exist, or do not need the exemption.
  fileprivate func idleDrivers(_ drivers: [String]) -> [Fault] {
    drivers.filter { self[$0]?.faults(starts, "").isEmpty ?? true }.map {
      Fault(place: $0, message: "gone, or starts nothing: take it off the list of drivers")
    }
  }
}

extension SourceFile {
  fileprivate func leftForLater() -> [Fault] {
    let marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
    let inComments = comments.keys.sorted().flatMap { line in
      marks.filter { comments[line]?.contains($0) == true }.map {
        fault(line, "\($0): do it now, or open an issue")
      }
    }
    let traps = ["fatalError(", "preconditionFailure(", "assertionFailure("]
    let inTraps = traps.flatMap { occurrences(of: $0) }.filter { index in
      let message = index + 2 < tokens.count ? tokens[index + 2].text.lowercased() : ""
      return ["unimplemented", "not implemented", "not yet"].contains(where: message.contains)
    }
    return inComments + inTraps.map { fault(tokens[$0].line, "implement it") }
  }
}
