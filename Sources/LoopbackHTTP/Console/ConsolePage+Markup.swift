extension ConsolePage {
  static let before = "<!doctype html>"
  static let between = ""
  static let after = ""
  static let style = ""
  static let script = ""
}
