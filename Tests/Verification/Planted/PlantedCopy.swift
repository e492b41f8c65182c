import Foundation

/// A copy of the package with every fault in it, and the tool built from it.
struct PlantedCopy {
  /// The package that is copied.
  let root: URL
  /// The folder of the copy.
  let folder: URL

  /// Updates the copy.
  func plant(_ planter: Planter) throws {
    var texts: [String: String] = [:]
    for path in planter.paths {
      let data = try Data(contentsOf: root.appendingPathComponent(path))
      texts[path] = try planter.planted(String(decoding: data, as: UTF8.self), at: path)
      let target = path.split(separator: "/").prefix(2).joined(separator: "/")
      texts["\(target)/\(Planter.switchFileName)"] = Planter.switchFile
    }
    try SourceCopy(root: root, folder: folder).update(replacing: texts)
  }

  /// Builds a product, and returns its program.
  ///
  /// - Parameter isCluster: Whether it contains the storage in PostgreSQL.
  func build(_ product: String, isCluster: Bool) throws -> URL {
    let swift = ProcessInfo.processInfo.environment["SWIFT"] ?? "swift"
    let arguments =
      [
        swift, "build", "--package-path", folder.path, "--configuration", "release", "--product",
        product,
      ] + (isCluster ? ["--traits", "PostgreSQL"] : [])
    let outcome = try ProcessOutcome.run(arguments, seconds: 3_600)
    guard outcome.status == 0 else {
      throw PlantingError("\(product) can't be built with the faults in it:\n\(outcome.output)")
    }
    let place = try ProcessOutcome.run(arguments + ["--show-bin-path"], seconds: 600)
    let path = place.output.split(separator: "\n").last.map(String.init) ?? ""
    return URL(fileURLWithPath: path).appendingPathComponent(product)
  }
}
