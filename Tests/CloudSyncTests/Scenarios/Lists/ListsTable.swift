import CloudSync

/// One type of record of the lists app, as a version of the app knows it.
struct ListsTable {
  /// The treatment of a row whose parent is moved.
  enum Policy {
    case cascade
    case setDefault(String)
  }

  var name: String
  var fields: [String]
  var defaults: [String: String] = [:]
  var parent: String?
  var whenParentGoes = Policy.cascade
  /// Rows stay in the user's own database, whatever their parent does.
  var isPrivate = false

  static let list = ListsTable(name: "List", fields: ["title", "cover"])
  static let reminder = ListsTable(
    name: "Reminder", fields: ["title", "notes"], parent: "List")
  static let subtask = ListsTable(name: "Subtask", fields: ["title"], parent: "Reminder")
  static let tag = ListsTable(name: "Tag", fields: [])
  static let position = ListsTable(
    name: "Position", fields: ["place"], parent: "List", isPrivate: true)
  static let all = [list, reminder, subtask, tag, position]
}

/// Why the app refuses something.
enum ListsError: Error, Equatable {
  case unknownTable(String)
  case notRoot(parent: String)
  case privateTable(String)
  case stopped
  case readOnly
  case notShared
  case notThere
}

/// One row: its values, when each was edited, and the server's version it stands on.
struct ListsRow {
  var type: String
  var values: [String: String] = [:]
  var edits: [String: Int] = [:]
  var parent: CKRecord.ID?
  var parentEdit = 0
  var server: CKRecord?
}
