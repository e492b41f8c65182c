public import CloudSync

extension SimulatedCloud {
  /// Creates a device on which `app` is the delegate of an engine for the private database.
  ///
  /// The device creates the engine with the cloud's clock and stores its state between launches.
  /// - Parameters:
  ///   - name: the device's name, unique in this cloud.
  ///   - account: the signed-in account; `nil` for none.
  ///   - automaticallySync: whether the engine syncs automatically when the clock is moved.
  ///   - app: creates the delegate for one launch; called again at each restart.
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

  /// Creates a device with an app that creates its engine from the given container and stores the
  /// state itself.
  ///
  /// - Parameters:
  ///   - name: the device's name, unique in this cloud.
  ///   - account: the signed-in account; `nil` for none.
  ///   - app: launches the app; called again at each restart.
  public func launch<App: Sendable>(
    on name: String, signedInAs account: String? = "alice",
    app: @escaping @Sendable (AppSurroundings) throws -> App
  ) throws -> SimulatedDevice<App> {
    try SimulatedDevice(name, in: self, account: account, launchApp: app) { _, _, _ in nil }
  }
}
