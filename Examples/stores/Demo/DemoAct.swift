/// A store's part of the demo.
///
/// After the acts, the demo changes the account of a device, searches it for remaining data, syncs
/// all devices, and compares them with the server.
struct DemoAct: Sendable {
  /// Runs the act: numbered scenes, each begun with ``DemoStage/begin(_:)``.
  ///
  /// It leaves the devices that it uses online and running.
  var play: @Sendable (inout DemoStage) async throws -> Void

  /// Adds one item called `name` for the account of the device.
  var addItem: @Sendable (_ name: String, DemoDevice) async throws -> Void
}
