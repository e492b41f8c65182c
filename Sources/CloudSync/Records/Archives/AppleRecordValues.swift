import Foundation
import Records

/// The values of a record as Apple's archives hold them: a dictionary of the present ones, one
/// of those the server had, and the names of the changed ones.
final class AppleRecordValues: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }

  /// The values by name.
  let values: Fields

  /// The values as they were on the server, for the changed names.
  let originals: Fields

  /// The names of the changed values.
  let changedKeys: Set<String>

  init?(coder: NSCoder) {
    func fields(_ key: String) -> Fields {
      guard coder.containsValue(forKey: key),
        let values = coder.decodeObject(of: AppleArchive.readableClasses, forKey: key)
          as? [String: Any]
      else { return Fields() }
      return Fields(
        values.compactMap { name, value in
          FieldValue(value).map { Fields.Element(key: name, field: Field($0)) }
        })
    }
    values = fields("RecordValues")
    originals = fields("OriginalValues")
    var names: [String] = []
    if coder.containsValue(forKey: "ChangedKeys") {
      let set = coder.decodeObject(of: AppleArchive.readableClasses, forKey: "ChangedKeys")
      names = (set as? NSSet)?.allObjects.compactMap { $0 as? String } ?? []
    }
    changedKeys = Set(names)
  }

  /// Never called: this library's archives hold values in another form.
  func encode(with coder: NSCoder) {}
}
