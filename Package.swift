// swift-tools-version: 6.2
import PackageDescription

/// Warnings are errors only in this repository's own builds, which set the variable: an app that
/// depends on this package must build with compilers that warn of more.
let warnings: [SwiftSetting] =
  Context.environment["CLOUDSYNC_STRICT"] == "1" ? [.treatAllWarnings(as: .error)] : []

/// The strictness every Swift target is built with.
let strict: [SwiftSetting] =
  [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InferIsolatedConformances"),
  ] + warnings

/// libpq is needed with the trait only.
let withPostgreSQL: TargetDependencyCondition? = .when(traits: ["PostgreSQL"])

/// A module of `Sources`.
///
/// It depends on modules of lower layers only; see Docs/Architecture.md.
func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []
) -> Target {
  .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

func tool(
  _ name: String, _ dependencies: [Target.Dependency], path: String? = nil,
  exclude excluded: [String] = [], resources: [Resource] = []
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: path, exclude: excluded, resources: resources,
    swiftSettings: strict)
}

/// A store: it adopts the public product the way an outside app would.
func store(
  _ name: String, _ dependencies: [Target.Dependency], exclude excluded: [String] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Examples/\(name)",
    exclude: ["README.md"] + excluded,
    swiftSettings: strict)
}

/// What several test targets and the verification tool use.
func support(
  _ name: String, _ dependencies: [Target.Dependency], exclude excluded: [String] = [],
  resources: [Resource] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Tests/Support/\(name)", exclude: excluded,
    resources: resources, swiftSettings: strict)
}

/// A command of the verification tool.
func verification(
  _ name: String, _ dependencies: [Target.Dependency], exclude excluded: [String] = [],
  resources: [Resource] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Tests/Verification/\(name)", exclude: excluded,
    resources: resources, swiftSettings: strict)
}

func tests(
  _ name: String, _ dependencies: [Target.Dependency], exclude excluded: [String] = [],
  resources: [Resource] = [], packageAccess: Bool = true
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, exclude: excluded, resources: resources,
    packageAccess: packageAccess, swiftSettings: strict)
}

let package = Package(
  name: "swift-cloud-sync",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CloudSync", targets: ["CloudSync", "CloudProtocol", "Records"]),
    .library(
      name: "LoopbackServer",
      targets: [
        "LoopbackServer", "LoopbackHTTP", "CloudMachine", "CloudProtocol", "Records",
      ]),
    .library(name: "CloudSyncTesting", targets: ["CloudSyncTesting"]),
    .library(name: "SyncedStore", targets: ["SyncedStore", "DurableFiles"]),
    .library(name: "CloudKit", targets: ["CloudKitProduct"]),
    .executable(name: "cloudsync", targets: ["CloudSyncTool"]),
    .executable(name: "stores", targets: ["StoresTool"]),
  ],
  traits: [
    .trait(
      name: "AppleCloudKit",
      description: "Builds SyncedStore on Apple's CloudKit, on Apple's platforms."),
    .trait(
      name: "PostgreSQL", description: "Stores a server's data in PostgreSQL; needs libpq."),
  ],
  targets: [
    // layer 0
    module("Records"),
    module("CommandLineKit"),
    module("Disk"),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .systemLibrary(name: "CEpoll"),
    // layer 1
    module("SQLite", ["CSQLite", "Disk"]),
    module("PostgreSQL", [.target(name: "CLibPQ", condition: withPostgreSQL)]),
    module("DurableFiles", ["Disk"]),
    module("CloudProtocol", ["Records"]),
    // layer 2
    module("SyncMachine", ["CloudProtocol", "Records"]),
    module("CloudMachine", ["CloudProtocol", "Records"]),
    module("WebServices", ["CloudProtocol", "Records"]),
    // layer 3
    module("CloudSync", ["SyncMachine", "WebServices", "CloudProtocol", "Records", "Disk"]),
    module(
      "LoopbackServer",
      [
        "CloudMachine", "WebServices", "CloudProtocol", "Records", "SQLite", "PostgreSQL", "Disk",
      ]),
    // layer 4
    module(
      "LoopbackHTTP",
      ["LoopbackServer", "WebServices", "CloudProtocol", "Records", "Disk", "CEpoll"],
      resources: [
        "console.html", "console.css", "console.js", "console-query.js", "console-form.js",
        "console-record.js", "console-tables.js", "console-records.js", "console-people.js",
        "console-data.js", "console-faults.js", "console-feed.js", "console-text.js",
        "console-zone.js",
      ].map { .embedInCode("Console/\($0)") }
        + ["html", "css", "js"].map { .embedInCode("SignIn/sign-in.\($0)") }),
    module("CloudKit", ["CloudSync", "LoopbackServer", "CloudProtocol"]),
    module("SyncedStore", ["CloudSync", "DurableFiles", "Disk"]),
    module("StateInspection", ["CloudSync", "SyncMachine", "WebServices", "Records"]),
    // layer 5
    // The product `CloudKit` is there on every host; on Apple's platforms it holds nothing.
    .target(
      name: "CloudKitProduct",
      dependencies: [
        .target(
          name: "CloudKit",
          condition: .when(platforms: [.linux, .android, .windows, .wasi, .openbsd]))
      ],
      swiftSettings: strict),
    module(
      "CloudSyncTesting",
      [
        "CloudSync", "LoopbackServer", "SyncMachine", "CloudMachine", "CloudProtocol", "Records",
      ]),
    tool(
      "CloudSyncTool",
      [
        "LoopbackHTTP", "LoopbackServer", "WebServices", "StateInspection", "CloudSync",
        "CloudProtocol", "CommandLineKit", "Disk",
      ],
      resources: [.embedInCode("CommandLine/help.txt")]),
    // the example stores and their tool
    store("SyncSupport", ["SyncedStore"]),
    store("TabStore", ["SyncSupport", "SyncedStore"]),
    store("ClipboardStore", ["SyncSupport", "SyncedStore", "TabStore"]),
    store("ShareTexts", []),
    store(
      "GameResultStore", ["ShareTexts", "SyncSupport", "SyncedStore"],
      exclude: ["Samples"]),
    store("AchievementStore", ["SyncSupport", "SyncedStore"]),
    store("LeaderboardStore", ["SyncSupport", "SyncedStore"]),
    store("IdeaStore", ["SyncSupport"], exclude: ["Samples"]),
    store("AnnotationStore", ["SyncSupport"]),
    tool(
      "StoresTool",
      [
        "TabStore", "ClipboardStore", "GameResultStore", "AchievementStore", "LeaderboardStore",
        "IdeaStore", "AnnotationStore", "SyncSupport", "SyncedStore",
        "CloudSync", "LoopbackServer",
        "CloudProtocol", "Records", "CommandLineKit",
      ],
      path: "Examples/stores", exclude: ["README.md"],
      resources: [
        .embedInCode("CommandLine/help.txt"), .embedInCode("Demo/ideas.csv"),
        .embedInCode("Demo/share-texts.txt"),
      ]),

    // what tests and the verification tool share
    support(
      "SimulationSupport",
      [
        "SyncedStore", "DurableFiles", "CloudSync", "LoopbackServer", "SyncMachine",
        "CloudMachine", "WebServices", "CloudProtocol", "Records", "SQLite", "Disk",
      ], resources: [.embedInCode("Situations.txt")]),
    support(
      "StoreSimulation",
      [
        "TabStore", "ClipboardStore", "GameResultStore", "AchievementStore",
        "LeaderboardStore", "IdeaStore", "AnnotationStore", "SyncSupport", "SyncedStore",
        "CloudSync", "CloudSyncTesting",
        "SimulationSupport", "LoopbackServer", "CloudProtocol", "Records",
      ], exclude: ["README.md"]),
    support("VerificationSupport", ["CommandLineKit", "PostgreSQL", "CSQLite"]),

    // the commands of the verification tool, the tool, and the benchmarks
    verification(
      "Simulate", ["SimulationSupport", "VerificationSupport", "CommandLineKit"]),
    verification(
      "Stores", ["StoreSimulation", "VerificationSupport", "CommandLineKit"],
      resources: [.embedInCode("help.txt")]),
    verification(
      "Crash",
      [
        "SimulationSupport", "CloudSync", "LoopbackServer", "VerificationSupport",
        "CommandLineKit",
      ], resources: [.embedInCode("help.txt")]),
    verification(
      "Soak",
      [
        "SimulationSupport", "CloudSync", "LoopbackHTTP", "LoopbackServer", "CloudProtocol",
        "Records", "SQLite", "VerificationSupport", "CommandLineKit",
      ], resources: [.embedInCode("help.txt")]),
    verification(
      "Differential",
      [
        "SimulationSupport", "CloudSync", "LoopbackHTTP", "LoopbackServer", "CloudProtocol",
        "Records", "VerificationSupport", "CommandLineKit",
      ]),
    verification(
      "Siege",
      [
        "SimulationSupport", "LoopbackHTTP", "LoopbackServer", "WebServices",
        "VerificationSupport", "CommandLineKit",
      ],
      resources: [
        .embedInCode("help.txt"), .embedInCode("Data/AlicesData.json"),
        .embedInCode("Data/HostileTexts.json"), .embedInCode("Data/ValidBodies.json"),
      ]),
    verification(
      "Planted", ["VerificationSupport", "CommandLineKit"], exclude: ["Faults"],
      resources: [.embedInCode("help.txt")]),
    verification(
      "Mutants", ["Planted", "VerificationSupport", "CommandLineKit"],
      exclude: ["equivalent.txt"], resources: [.embedInCode("help.txt")]),
    tool(
      "cloudsync-verify",
      [
        "Simulate", "Stores", "Crash", "Soak", "Differential", "Siege", "Planted", "Mutants",
        "VerificationSupport", "CommandLineKit",
      ],
      path: "Tests/Verification/Verify"),
    tool(
      "cloudsync-bench",
      [
        "SyncedStore", "CloudSync", "LoopbackHTTP", "LoopbackServer", "CloudMachine",
        "SyncMachine", "CloudProtocol", "Records", "SQLite", "PostgreSQL", "WebServices",
        "VerificationSupport", "CommandLineKit",
      ],
      path: "Tests/Benchmarks",
      resources: [.embedInCode("help.txt"), .embedInCode("Peers/kinto.ini")]),

    // tests
    tests(
      "SyncedStoreTests",
      [
        "SyncedStore", "CloudSync", "CloudSyncTesting", "LoopbackServer", "CloudProtocol",
        "Records",
      ]),
    tests("RecordsTests", ["Records", "CloudProtocol"]),
    tests("CommandLineKitTests", ["CommandLineKit"]),
    tests("SQLiteTests", ["SQLite"]),
    tests("PlantingTests", ["Planted", "Mutants"]),
    tests("SyncMachineTests", ["SyncMachine", "CloudProtocol", "Records"]),
    tests(
      "CloudMachineTests",
      ["SimulationSupport", "CloudMachine", "CloudProtocol", "Records", "VerificationSupport"]),
    tests(
      "CloudSyncTests",
      [
        "CloudSync", "StateInspection", "LoopbackHTTP", "LoopbackServer", "SyncMachine",
        "CloudProtocol", "Records", "SimulationSupport", "VerificationSupport",
      ]),
    tests(
      "StateInspectionTests",
      [
        "StateInspection", "SimulationSupport", "CloudSync", "SyncMachine", "CloudProtocol",
        "Records",
      ]),
    tests(
      "LoopbackServerTests",
      [
        "LoopbackServer", "CloudMachine", "CloudSyncTesting", "WebServices", "CloudProtocol",
        "Records", "SQLite", "PostgreSQL", "SimulationSupport", "VerificationSupport",
      ]),
    tests(
      "WebServicesTests", ["WebServices", "CloudProtocol", "Records", "VerificationSupport"]),
    tests(
      "LoopbackHTTPTests",
      [
        "LoopbackHTTP", "LoopbackServer", "CloudSyncTesting", "WebServices", "CloudProtocol",
        "Records", "Disk", "VerificationSupport",
      ]),
    tests(
      "TransportTests",
      [
        "CloudSync", "LoopbackHTTP", "LoopbackServer", "CloudMachine", "CloudProtocol", "Records",
        "Differential", "SimulationSupport", "VerificationSupport",
      ]),
    tests(
      "SimulationTests",
      ["SimulationSupport", "CloudSync", "SyncMachine", "CloudProtocol", "Records"]),
    tests(
      "DiskTests",
      [
        "SimulationSupport", "CloudSync", "LoopbackServer", "CloudProtocol", "Records", "SQLite",
        "DurableFiles", "Disk",
      ]),
    tests(
      "StoreTests",
      [
        "TabStore", "ClipboardStore", "GameResultStore", "ShareTexts", "AchievementStore",
        "LeaderboardStore", "IdeaStore", "AnnotationStore", "SyncSupport", "SyncedStore",
        "CloudSync", "CloudSyncTesting",
        "LoopbackHTTP", "LoopbackServer", "SimulationSupport", "StoreSimulation", "CloudProtocol",
        "Records",
      ], exclude: ["FirstVersion"]),
    tests(
      "ExampleTests",
      [
        "StoresTool", "SyncSupport", "CommandLineKit", "CloudSync", "LoopbackServer",
        "LoopbackHTTP",
        "VerificationSupport",
      ]),
    tests(
      "CloudSyncTestingTests",
      [
        "CloudSyncTesting", "VerificationSupport", "CloudSync", "CloudProtocol", "Records",
        "TabStore", "ClipboardStore", "GameResultStore", "IdeaStore", "AnnotationStore",
        "AchievementStore", "LeaderboardStore", "SyncSupport",
      ],
      exclude: ["__Snapshots__"]),
    tests(
      "FuzzTests",
      [
        "LoopbackHTTP", "LoopbackServer", "StateInspection", "CloudSync", "WebServices",
        "SyncMachine", "CloudMachine", "CloudProtocol", "Records",
      ],
      exclude: ["Corpora"]),
    // Written as code outside this package: plain imports, no access to package declarations.
    tests(
      "AdopterTests",
      ["CloudSync", "CloudSyncTesting", "LoopbackServer", "LoopbackHTTP", "SyncedStore"],
      packageAccess: false),
    tests("SourceRuleTests", ["VerificationSupport"]),
  ],
  swiftLanguageModes: [.v6]
)

#if !canImport(Darwin)
  // These import the module, which is the system's own on Apple's platforms.
  package.targets += [
    // Built as apps are, without the upcoming features that change what their files may say.
    .testTarget(
      name: "CloudKitTests", dependencies: ["CloudKit"],
      swiftSettings: warnings),
    // An app that imports CloudKit and nothing else, and its tests.
    .target(
      name: "Notebook", dependencies: ["CloudKit"], path: "Examples/Notebook",
      exclude: ["README.md"],
      swiftSettings: warnings),
    .testTarget(
      name: "NotebookTests", dependencies: ["Notebook", "CloudKit", "CloudSyncTesting"],
      swiftSettings: warnings),
    .testTarget(
      name: "CloudKitSwift5Tests", dependencies: ["CloudKit"],
      swiftSettings: [.swiftLanguageMode(.v5)] + warnings),
  ]
#endif

if Context.environment["CLOUDSYNC_FUZZ"] == "1" {
  // The fuzzer needs flags that only a command line may give (`make fuzz` does), so it is there on
  // demand: the folder of the tests that replay its corpora, with libFuzzer in place of the tests.
  package.targets.removeAll { $0.name == "FuzzTests" }
  package.targets.append(
    .executableTarget(
      name: "cloudsync-fuzz",
      dependencies: [
        "LoopbackHTTP", "LoopbackServer", "StateInspection", "CloudSync", "WebServices",
        "SyncMachine", "CloudMachine", "CloudProtocol", "Records",
      ], path: "Tests/FuzzTests",
      exclude: ["ReplayTests.swift", "Corpora"], swiftSettings: strict + [.define("CLOUDSYNC_FUZZ")]
    ))
}

/// The targets that have tests with PostgreSQL; `make cluster-test` builds no other tests.
///
/// The tools are built as well, because some have code for PostgreSQL.
let clusterTests = ["LoopbackServerTests", "TransportTests", "ExampleTests"]
if Context.environment["CLOUDSYNC_TESTS"] == "cluster" {
  package.targets.removeAll { $0.type == .test && !clusterTests.contains($0.name) }
}
