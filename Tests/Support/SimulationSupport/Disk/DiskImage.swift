/// Everything a simulated disk holds at one moment: what programs see, and what is durable of it.
package struct DiskImage: Sendable {
  /// The number of bytes that a disk writes atomically.
  static let sectorSize = 512

  /// A file: what programs read, what a power cut leaves, and what lies between.
  struct File: Sendable {
    var cached = FileBytes()
    var durable = FileBytes()
    var unsynced: [(number: Int, change: ContentChange)] = []
  }

  enum ContentChange: Sendable {
    case write(offset: Int, bytes: [UInt8])
    case resize(Int)
  }

  /// A name given to a file or, without an inode, taken away.
  struct NameChange: Sendable {
    var inode: Int?
    var path: String
    /// The name a renamed file had before.
    var oldPath: String?
  }

  /// The files by number.
  var files: [Int: File] = [:]
  /// The files by name, as programs see them.
  var names: [String: Int] = [:]
  var durableNames: [String: Int] = [:]
  var unsyncedNames: [(number: Int, change: NameChange)] = []
  private var nextInode = 0
  /// Orders all changes of names and contents.
  private var changeCount = 0

  /// An empty disk.
  package init() {}

  /// The paths of all files, sorted.
  package var paths: [String] { names.keys.sorted() }

  /// The bytes of the file at `path` as programs read them; `nil` where there is none.
  ///
  /// Setting them is done by no program and needs no synchronization: it is how a disk is
  /// prepared or damaged.
  package subscript(path: String) -> [UInt8]? {
    get { names[path].flatMap { files[$0]?.cached.bytes } }
    set {
      guard let newValue else {
        names[path] = nil
        durableNames[path] = nil
        return
      }
      nextInode += 1
      let bytes = FileBytes(newValue)
      files[nextInode] = File(cached: bytes, durable: bytes)
      names[path] = nextInode
      durableNames[path] = nextInode
    }
  }

  /// The size of all files with a name in bytes.
  package var byteCount: Int {
    names.values.reduce(0) { $0 + (files[$1]?.cached.count ?? 0) }
  }

  mutating func make(_ path: String) -> Int {
    nextInode += 1
    files[nextInode] = File()
    change(NameChange(inode: nextInode, path: path))
    return nextInode
  }

  mutating func change(_ change: NameChange) {
    changeCount += 1
    unsyncedNames.append((changeCount, change))
    DiskImage.apply(change, to: &names)
  }

  mutating func write(_ bytes: [UInt8], at offset: Int, in inode: Int) {
    changeCount += 1
    files[inode]?.cached.write(bytes[...], at: offset)
    files[inode]?.unsynced.append((changeCount, .write(offset: offset, bytes: bytes)))
  }

  mutating func resize(_ inode: Int, to size: Int) {
    changeCount += 1
    files[inode]?.cached.resize(to: size)
    files[inode]?.unsynced.append((changeCount, .resize(size)))
  }

  mutating func synchronize(_ inode: Int) {
    guard var file = files.removeValue(forKey: inode) else { return }
    for (_, change) in file.unsynced { DiskImage.apply(change, to: &file.durable) }
    file.unsynced = []
    files[inode] = file
  }

  mutating func synchronizeNames(inFolderOf path: String) {
    let folder = DiskImage.folder(of: path)
    for (_, change) in unsyncedNames where DiskImage.folder(of: change.path) == folder {
      DiskImage.apply(change, to: &durableNames)
    }
    unsyncedNames.removeAll { DiskImage.folder(of: $0.change.path) == folder }
  }

  /// What a failed synchronization leaves: some of the changes are durable, and the system takes
  /// all of them for written.
  mutating func failSynchronization(of inode: Int, seed: UInt64, keepsCache: Bool) {
    guard let file = files[inode] else { return }
    var survival = CrashSurvival(seed: seed)
    files[inode]?.durable = survival.content(of: file)
    files[inode]?.unsynced = []
    if !keepsCache { files[inode]?.cached = survival.lastContent }
  }

  /// Numbers what comes from here on as if it went on behind `image`.
  mutating func continueNumbers(of image: DiskImage) {
    nextInode = image.nextInode
    changeCount = image.changeCount
  }

  static func apply(_ change: ContentChange, to content: inout FileBytes) {
    switch change {
    case .write(let offset, let bytes): content.write(bytes[...], at: offset)
    case .resize(let size): content.resize(to: size)
    }
  }

  static func apply(_ change: NameChange, to names: inout [String: Int]) {
    if let oldPath = change.oldPath { names[oldPath] = nil }
    names[change.path] = change.inode
  }

  private static func folder(of path: String) -> Substring {
    path.lastIndex(of: "/").map { path[..<$0] } ?? ""
  }
}
