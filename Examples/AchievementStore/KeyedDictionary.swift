import Foundation

/// A dictionary in a keyed archive, read without making any object of a class the archive names.
struct KeyedDictionary {
  /// The members, which are texts with whole numbers.
  let counts: [String: Int]

  /// Reads the archive; `nil` when it holds no such dictionary, or is none.
  init?(_ data: Data) {
    guard let list = BinaryPropertyList(data), let archive = list.object(list.root),
      list.member("$archiver", of: archive) == .string("NSKeyedArchiver"),
      case .array(let objects)? = list.member("$objects", of: archive)
    else { return nil }
    func follow(_ object: BinaryPropertyList.Object?) -> BinaryPropertyList.Object? {
      guard case .reference(let index)? = object, objects.indices.contains(index) else {
        return nil
      }
      return list.object(objects[index])
    }
    let root = follow(list.member("root", of: list.member("$top", of: archive)))
    guard case .array(let keys)? = list.member("NS.keys", of: root),
      case .array(let values)? = list.member("NS.objects", of: root), keys.count == values.count
    else { return nil }
    var counts: [String: Int] = [:]
    for (key, value) in zip(keys, values) {
      guard case .string(let name)? = follow(list.object(key)),
        case .integer(let count)? = follow(list.object(value))
      else { return nil }
      counts[name] = count
    }
    self.counts = counts
  }
}
