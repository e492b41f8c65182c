public import Foundation

extension Date {
  /// The nearest date in whole milliseconds, in which CloudKit stores dates.
  ///
  /// It comes back from a server as the same number, so that an item with it equals the version
  /// that is read from its record.
  public var roundedToMilliseconds: Date {
    Date(
      timeIntervalSinceReferenceDate: (timeIntervalSinceReferenceDate * 1_000).rounded() / 1_000)
  }
}
