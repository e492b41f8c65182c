import CloudMachine
import CloudProtocol
import Foundation

extension CloudMachine {
  /// The account called `name`, which is created if it does not exist.
  ///
  /// Storages compare names by their bytes, but Swift, and the user, take the composed and the
  /// decomposed form of a letter for the same. So a new name must have the composed form: two
  /// accounts never have names that look the same. An account with another name that an earlier
  /// version stored is still found.
  ///
  /// - Throws: `invalidArguments` for an invalid name.
  func account(named name: String, in storage: any CloudStorage) throws -> AccountRow {
    if let row = try storage.account(named: name) { return row }
    guard name.utf8.elementsEqual(name.precomposedStringWithCanonicalMapping.utf8) else {
      throw CloudError(
        .invalidArguments,
        "an account name needs composed letters: write it in the Unicode normalization form C")
    }
    return try createAccount(name, in: storage)
  }
}
