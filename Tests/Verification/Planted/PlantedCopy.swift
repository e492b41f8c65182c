import Foundation

/// A copy of the package with every fault in it, and the tool built from it.
struct PlantedCopy {
  /// The package that is copied.
  let root: URL
  /// The folder of the copy.
  let folder: URL

  /// The parts of the package that the build needs.
  private static let parts = ["Package.swift", "Sources", "Tests", "Examples"]

  /// Updates the copy.
  ///
  /// Unchanged files are not written, so that the next build is short.
  func plant(_ planter: Planter) throws {
    let files = FileManager.default
    var wanted: [String: Data] = [:]
    for path in try paths(under: root) {
      wanted[path] = try Data(contentsOf: root.appendingPathComponent(path))
    }
    var targets: Set<String> = []
    for path in planter.paths {
      guard let data = wanted[path] else { throw PlantingError("there is no file \(path)") }
      let text = try planter.planted(String(decoding: data, as: UTF8.self), at: path)
      wanted[path] = Data(text.utf8)
      targets.insert(path.split(separator: "/").prefix(2).joined(separator: "/"))
    }
    for target in targets {
      wanted["\(target)/\(Planter.switchFileName)"] = Data(Planter.switchFile.utf8)
    }
    try files.createDirectory(at: folder, withIntermediateDirectories: true)
    for path in try paths(under: folder) where wanted[path] == nil {
      try files.removeItem(at: folder.appendingPathComponent(path))
    }
    for (path, data) in wanted {
      let file = folder.appendingPathComponent(path)
      if files.contents(atPath: file.path) == data { continue }
      try files.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try data.write(to: file)
    }
  }

  private func paths(under root: URL) throws -> [String] {
    let files = FileManager.default
    var found: [String] = []
    for part in Self.parts {
      let place = root.appendingPathComponent(part)
      var isFolder: ObjCBool = false
      guard files.fileExists(atPath: place.path, isDirectory: &isFolder) else { continue }
      guard isFolder.boolValue else {
        found.append(part)
        continue
      }
      for path in try files.subpathsOfDirectory(atPath: place.path).sorted() {
        var isFolder: ObjCBool = false
        let whole = place.appendingPathComponent(path).path
        if files.fileExists(atPath: whole, isDirectory: &isFolder), !isFolder.boolValue {
          found.append("\(part)/\(path)")
        }
      }
    }
    return found
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
