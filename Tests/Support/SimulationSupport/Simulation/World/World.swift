import CloudProtocol
import Records
import SyncMachine

/// A world of devices, accounts, a server and the network between them.
///
/// Every choice comes from one generator, every order is explicit, and time is a number. So the
/// seed decides everything. A ``MachineWorld`` runs the state machines alone, an ``EngineWorld``
/// whole engines. Both have the same actions of users, the same faults of the network, the same
/// healing and the same check of convergence, which are extensions of this protocol.
protocol World: AnyObject {
  associatedtype Device: SimulatedDevice

  var options: WorldOptions { get }
  var random: SeededRandom { get set }
  var layout: WorldLayout { get }
  var devices: [Device] { get }
  var messages: MessageQueue { get set }
  var findings: Findings { get }
  var journal: WorldJournal { get }
  /// Milliseconds since the world began.
  var now: Int { get }
  var steps: Int { get }
  /// Whether faults have ended.
  var isHealed: Bool { get }
  /// Whether nothing is due, now or later.
  var isQuiet: Bool { get }
  /// The most steps that a phase of healing may take.
  var stepBound: Int { get }

  /// One step: an action, or the next event that can happen.
  func step() throws
  /// Counts a fault by what the engine of `device` is busy with.
  func reach(_ fault: Situation.Fault, _ device: Device)
  /// The invariants that hold whenever nothing is due.
  func checkAtRest()

  // MARK: Devices

  /// Starts a device that is off.
  func launch(_ number: Int)
  /// Ends a device without warning, or prepares its end.
  func crash(_ device: Device)
  /// Changes the account of a device, or whether it can be used.
  func actOnAccount(of device: Device)
  /// Starts a manual fetch.
  func fetch(_ device: Device, _ scope: FetchScope)
  /// Starts a manual send.
  func send(_ device: Device, _ scope: SendScope)
  /// Cancels the operations of a device.
  func cancelOperations(of device: Device)
  /// Tells a device that it is online again.
  func tellNetworkReturned(to device: Device)
  /// Tells a device that something changed on the server.
  func push(to device: Device)

  // MARK: The server

  /// The server goes down and comes back after `downtime` milliseconds.
  func restartServer(downtime: Int, clockJump: Double) throws
  /// Begins a time in which requests fail; returns the code of their failures.
  func beginOutage() -> CloudError.Code?
  /// Limits the bytes of an account; `nil` sets no limit.
  func setQuota(_ bytes: Int?, of account: Int) throws
  /// Removes a zone; returns whether it was there.
  func remove(_ zone: Int, of account: Int, reason: ZoneDeletionReason) throws -> Bool
  /// Forgets tokens, or deletions with the tokens that have not seen them; `nil` is the list of
  /// zones.
  func forget(_ zone: Int?, of account: Int, trims: Bool) throws
  /// The records in the server's storage.
  func storedRecords(in zone: Int, of account: Int) throws -> [Record]
  /// The records that the oracle expects an account to see, by place.
  func records(for account: Int, _ scope: DatabaseScope) -> [Record?]
}

extension World {
  func reach(_ fault: Situation.Fault, _ device: Device) {}
  func checkAtRest() {}
  func actOnAccount(of device: Device) { changeAccount(of: device) }

  /// Notes what happens, for people.
  func note(_ text: @autoclosure () -> String) { journal.note(text()) }
}

/// A device of a world.
protocol SimulatedDevice: AnyObject {
  var number: Int { get }
  var name: String { get }
  var layout: WorldLayout { get }
  /// The database its engine is on.
  var scope: DatabaseScope { get }
  var isAutomatic: Bool { get }
  /// The signed-in account, counted from 1; `nil` for none.
  var account: Int? { get set }
  var isOnline: Bool { get set }
  /// Whether the app runs.
  var isRunning: Bool { get }
  var retryChecker: RetryChecker { get set }
  /// The device for the check of convergence; `nil` while it is off.
  var atRest: DeviceAtRest? { get }
  /// The state of the device, for the trace.
  var summary: String { get }
  /// The device that owns the process: itself, or its host.
  var process: Self { get }
  /// Itself and what else runs in its process.
  var parts: [Self] { get }

  /// Lets people do something in the app.
  func use(at now: Int, _ body: (inout AppModel) -> Void)
  /// Calls the engine while the app handles an event.
  func poke(at now: Int)
  /// A record as the app names it this time.
  func named(_ id: RecordID, _ naming: Situation.Naming) -> RecordID
}

extension SimulatedDevice {
  var scope: DatabaseScope { .private }
  var process: Self { self }
  var parts: [Self] { [self] }
  func poke(at now: Int) {}
  func named(_ id: RecordID, _ naming: Situation.Naming) -> RecordID { id }
}
