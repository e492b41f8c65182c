public import CloudSync

extension SimulatedCloud {
  /// A new device on which `app` is the delegate of an engine for the private database.
  ///
  /// The device makes the engine, keeps its state between launches, and gives it the cloud's clock.
  /// - Parameters:
  ///   - name: the device's name, unique in this cloud.
  ///   - account: who is signed in; `nil` for nobody.
  ///   - automaticallySync: whether the engine works by itself, when the clock is moved.
  ///   - app: makes the delegate for one launch; called again at each restart.
  public func device<App: CKSyncEngineDelegate>(
    _ name: String, signedInAs account: String? = "alice", automaticallySync: Bool = false,
    app: @escaping @Sendable (AppSurroundings) throws -> App
  ) throws -> SimulatedDevice<App> {
    try SimulatedDevice(name, in: self, account: account, launchApp: app) {
      app, surroundings, state in
      var configuration = CKSyncEngine.Configuration(
        database: surroundings.container.privateCloudDatabase, stateSerialization: state,
        delegate: app)
      configuration.automaticallySync = automaticallySync
      configuration.clock = surroundings.clock
      return CKSyncEngine(configuration)
    }
  }

  /// A new device with an app that makes its engine itself from the container it is given, and
  /// keeps the state itself.
  ///
  /// - Parameters:
  ///   - name: the device's name, unique in this cloud.
  ///   - account: who is signed in; `nil` for nobody.
  ///   - app: launches the app; called again at each restart.
  public func launch<App: Sendable>(
    on name: String, signedInAs account: String? = "alice",
    app: @escaping @Sendable (AppSurroundings) throws -> App
  ) throws -> SimulatedDevice<App> {
    try SimulatedDevice(name, in: self, account: account, launchApp: app) { _, _, _ in nil }
  }
}
