import CloudMachine
import Records

/// Tells servers on the same data of each other's changes, so that pushes need not wait for the
/// next check.
///
/// A notification that is lost does no harm beyond that.
protocol ChangeNotifier: Sendable {
  /// Begins to listen.
  ///
  /// - Parameter handler: called on a thread of its own with the databases that other servers
  ///   changed; none are named if any may have changed.
  func listen(_ handler: @escaping @Sendable ([DatabaseID]) -> Void)

  /// Tells the other servers of changes in databases, in all if none is named; does not wait.
  func send(_ databases: [DatabaseID])

  /// Ends both.
  func close()
}
