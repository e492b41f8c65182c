/// A store's part of the demo.
///
/// The demo as a whole goes on where the acts end: it changes accounts on a device, looks for what
/// is left, syncs all devices and compares them with the server.
struct DemoAct: Sendable {
  /// Plays the act: some numbered scenes, each begun with ``DemoStage/begin(_:)``.
  ///
  /// Takes the devices it wants from the stage and leaves them online and running.
  var play: @Sendable (inout DemoStage) async throws -> Void

  /// Adds one item, called `name`, for whoever is signed in on the device.
  var addItem: @Sendable (_ name: String, DemoDevice) async throws -> Void
}
