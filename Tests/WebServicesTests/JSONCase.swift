import WebServices

/// A text, and what is read out of it: written again, or refused.
struct JSONCase {
  var bytes: [UInt8]
  /// The value written again; `nil` for a text that is refused.
  var text: String?

  init(_ bytes: [UInt8], _ text: String?) {
    self.bytes = bytes
    self.text = text
  }

  static var all: [JSONCase] {
    same.map { JSONCase(Array($0.utf8), $0) }
      + other.map { JSONCase(Array($0.0.utf8), $0.1) }
      + refused.map { JSONCase(Array($0.utf8), nil) }
      + characters + brokenCharacters + built
  }

  /// Taken, and written just so.
  private static let same = [
    "null", "true", "false", "0", "1", "-1", "9223372036854775807", "-9223372036854775808",
    "0.1", "-0.0", "1.5", "5e-324", "-5e-324", "2.2250738585072014e-308",
    "1.7976931348623157e+308", "-1.7976931348623157e+308", "1e+16", "9007199254740993",
    #""""#, #""x""#, #""\\""#, #""\"""#, #""\n\t\u0000\u000d\u001f\u007f""#, #""/""#,
    #""\u0085\u2028\u2029""#, "\"\u{2027}\u{202A}\u{FEFF}\u{84}\"", "\"e\u{301}\"", "\"\u{E9}\"",
    "\"\u{1F600}\"",
    "\"\u{10FFFF}\u{FFFF}\"", "[]", "{}", "[[]]", "[{}]", #"{"":null}"#,
    #"{"a":{"a":{"a":1}}}"#, #"{"a":[{"a":1},{"a":2}]}"#, #"{"a":1,"A":2," a":3,"a ":4}"#,
    "[null,true,false,0,0.0,\"\",[],{}]", #"{"z":1,"a":2,"m":3}"#, #"{"\u0000":1,"\u0001":2}"#,
    "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":10,\"k\":11,"
      + "\"l\":12,\"m\":13,\"n\":14}",
  ]

  /// Taken, and written otherwise.
  private static let other: [(String, String)] = [
    ("-0", "-0.0"), ("0e0", "0.0"), ("0E-0", "0.0"), ("-0e5", "-0.0"), ("1.0", "1.0"),
    ("1e0", "1.0"), ("1E5", "100000.0"), ("1e+5", "100000.0"), ("1.50", "1.5"),
    ("9223372036854775808", "9.223372036854776e+18"),
    ("-9223372036854775809", "-9.223372036854776e+18"),
    ("18446744073709551615", "1.8446744073709552e+19"),
    ("9223372036854775807.0", "9.223372036854776e+18"),
    ("1e-400", "0.0"), ("-1e-400", "-0.0"), ("2e-324", "0.0"), ("3e-324", "5e-324"),
    ("0e999999999999", "0.0"), ("1e-999999999999", "0.0"),
    ("123456789012345678901234567890", "1.2345678901234568e+29"),
    (" null", "null"), ("null ", "null"), ("\t\n\r null \r\n\t", "null"),
    ("[ 1 , 2 ]", "[1,2]"), ("{ \"a\" : 1 , \"b\" : [ ] }", #"{"a":1,"b":[]}"#),
    ("[\n]", "[]"), ("{\r\n}", "{}"), ("\u{FEFF}[1]", "[1]"), ("\u{FEFF} 1", "1"),
    (#""\/\b\f""#, #""/\u0008\u000c""#), (#""\u0041\u00e9\u00E9""#, "\"A\u{E9}\u{E9}\""),
    (#""\ud83d\ude00""#, "\"\u{1F600}\""), (#""\uD83D\uDE00""#, "\"\u{1F600}\""),
    (#""\ud800\udc00\udbff\udfff""#, "\"\u{10000}\u{10FFFF}\""), (#""\uffff""#, "\"\u{FFFF}\""),
    (#""\ud7ff\ue000""#, "\"\u{D7FF}\u{E000}\""), (#""\ufeff""#, "\"\u{FEFF}\""),
    (#""e\u0301""#, "\"e\u{301}\""), (#"{"\u0061":1,"b":2}"#, #"{"a":1,"b":2}"#),
    ("\"\u{7F}\"", #""\u007f""#), (#""\\u0041""#, #""\\u0041""#), (#""\\\"""#, #""\\\"""#),
    (#""\r""#, #""\u000d""#), ("\"\u{85}\u{2028}\u{2029}\"", #""\u0085\u2028\u2029""#),
  ]

  private static let refused = [
    // nothing, or no value
    "", " ", "\n", "\u{FEFF}", "nul", "nulll", "Null", "NULL", "tru", "True", "fals", "FALSE",
    "None", "undefined", "NaN", "nan", "Infinity", "-Infinity", "inf", "x", "'a'", "`a`", ",",
    ":", "]", "}", "//", "/**/1", "1//", "1/**/", "#", "@", "(1)", "\\", "%20", ";", "*",
    // numbers
    "+1", "01", "-01", "00", "-00", "-", "--1", "1-", "-a", "1.", "-1.", "1.e5", ".5", "-.5",
    "1..2", "1.2.3", "1e", "1E", "1e+", "1e-", "1e++1", "1e5.5", "1e 5", "0x10", "0X10", "0b1",
    "0o7", "1_000", "1,000", "1 2", "1a", "1e400", "-1e400", "1e999999999999", "1f", "1L", "1n",
    "1.7976931348623159e308", "-1.8e308", "\u{661}", "1\u{661}", "\u{FF11}", "\u{2212}1", "1e5e5",
    // lists and objects
    "[", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1 2]", "[1,,2]", "[1;2]", "[1]]", "[[1]", "[1}",
    "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}", "{a:1}", "{'a':1}",
    "{\"a\"::1}", "{\"a\" 1}", "{\"a\",1}", "{\"a\":1 \"b\":2}", "{\"a\":1;\"b\":2}", "{1:2}",
    "{null:1}", "{[]:1}", "{\"a\"}", "{\"a\":}", "{:1}", "{\"a\":1]", "{{}}", "{}{}", "[][]",
    "[]x", "null,", "null null", "\"a\"\"b\"", "{}\u{0}", "[]\u{FEFF}", "\u{FEFF}\u{FEFF}1",
    "[\u{FEFF}1]",
    // two members with one name
    #"{"a":1,"a":1}"#, #"{"a":1,"a":2}"#, #"{"a":1,"b":2,"a":3}"#, #"{"":1,"":2}"#,
    #"{"a":1,"\u0061":2}"#, #"{"\u0061":1,"\u0061":2}"#, #"{"/":1,"\/":2}"#,
    #"[{"x":{"a":1,"a":1}}]"#, #"{"\ud83d\ude00":1,"\uD83D\uDE00":2}"#,
    // A field's name is a `String`, to which these two are one.
    "{\"\u{E9}\":1,\"e\u{301}\":2}",
    // text
    "\"", "\"a", "\"\\", "\"\\\"", "\"\\a\"", "\"\\x41\"", "\"\\'\"", "\"\\0\"", "\"\\U0041\"",
    "\"\\v\"", "\"\\ \"", "\"\\\n\"", "\"\\u\"", "\"\\u1\"", "\"\\u12\"", "\"\\u123\"",
    "\"\\u12g4\"", "\"\\u{41}\"", "\"\\u 041\"", "\"\\u+041\"", "\"\\u-041\"", "\"\\u00", "\"\t\"",
    "\"\n\"", "\"\r\"", "\"\u{0}\"", "\"\u{1}\"", "\"\u{1F}\"", "\"a\\n\n\"", "{\"\n\":1}",
    #""\ud800""#, #""\udbff""#, #""\udc00""#, #""\udfff""#, #""\ud800\ud800""#,
    #""\udc00\ud800""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\u0041""#, #""\ud800\""#,
    #""\ud800\u""#, #""\ud800 \udc00""#, #""a\ud83d""#, #"{"\ud800":1}"#, #"{"\udc00":1}"#,
    // blanks that are none
    "\u{A0}1", "\u{B}1", "\u{C}1", "\u{0}1", "1\u{0}", "\u{2028}1", "\u{3000}1", "\u{85}1",
    "[\u{B}]",
    "1\u{200B}",
  ]

  private static func quoted(_ bytes: [UInt8]) -> [UInt8] { [0x22] + bytes + [0x22] }

  /// The first and the last character of every length in UTF-8.
  private static let characters: [JSONCase] = [
    [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80],
    [0xEF, 0xBF, 0xBF], [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF],
  ].map { JSONCase(quoted($0), String(decoding: quoted($0), as: UTF8.self)) }

  /// Bytes that are no UTF-8, as text, as a name, after an escape, and outside of text.
  private static var brokenCharacters: [JSONCase] {
    let broken: [[UInt8]] = [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80],
      [0xE0, 0x9F, 0xBF], [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xED, 0xA0, 0x80],
      [0xED, 0xBF, 0xBF], [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80], [0xF0, 0x80, 0x80, 0x80],
      [0xF0, 0x9F, 0x98], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80],
      [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80],
      [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80], [0xFE], [0xFF],
    ]
    let newLine: [UInt8] = [0x5C, 0x6E]
    var cases: [JSONCase] = []
    for bytes in broken {
      var member: [UInt8] = [0x7B]
      member += quoted(bytes)
      member += [0x3A, 0x31, 0x7D]
      var list: [UInt8] = [0x5B]
      list += bytes
      list.append(0x5D)
      for text in [quoted(bytes), quoted(newLine + bytes), quoted(bytes + newLine), member] {
        cases.append(JSONCase(text, nil))
      }
      cases += [JSONCase(bytes, nil), JSONCase(list, nil)]
    }
    return cases
  }

  /// Cases that are made rather than written down.
  private static var built: [JSONCase] {
    func nested(_ open: String, _ close: String, _ depth: Int) -> String {
      String(repeating: open, count: depth) + "0" + String(repeating: close, count: depth)
    }
    func case_(_ text: String, _ isTaken: Bool) -> JSONCase {
      JSONCase(Array(text.utf8), isTaken ? text : nil)
    }
    let many = (0..<13).map { "\"m\($0)\":\($0)" }.joined(separator: ",")
    let digits = String(repeating: "9", count: 100_000)
    return [
      case_(nested("[", "]", 64), true), case_(nested("[", "]", 65), false),
      case_(nested("{\"a\":", "}", 64), true), case_(nested("{\"a\":", "}", 65), false),
      case_(nested("[{\"a\":", "}]", 32), true), case_(nested("[{\"a\":", "}]", 33), false),
      case_(String(repeating: "[", count: 1_000_000), false),
      case_(String(repeating: "{\"a\":", count: 200_000), false),
      case_(String(repeating: "[]", count: 500_000), false),
      case_("[" + String(repeating: "[],", count: 100_000) + "[]]", true),
      case_("{\(many)}", true), case_("{\(many),\"m0\":1}", false),
      case_("{\"m12\":1,\(many)}", false), case_("{\(many),\"\\u006d5\":1}", false),
      case_("\"" + String(repeating: "x", count: 1_000_000) + "\"", true),
      case_("\"" + String(repeating: "\\n", count: 100_000) + "\"", true),
      case_(digits, false), case_("-" + digits, false),
      JSONCase(Array(("0." + digits).utf8), "1.0"),
      JSONCase(Array(("1e-" + digits).utf8), "0.0"), case_("1e" + digits, false),
      JSONCase(Array(("0." + String(repeating: "0", count: 100_000) + "1").utf8), "0.0"),
      // The text in UTF-16, both ways round.
      JSONCase([0xFF, 0xFE, 0x31, 0x00], nil), JSONCase([0xFE, 0xFF, 0x00, 0x31], nil),
      JSONCase([0x31, 0x00], nil), JSONCase([0x00, 0x31], nil),
      JSONCase([0xEF, 0xBB], nil), JSONCase([0xEF, 0xBB, 0xBF, 0x31], "1"),
      // A character cut in two by an escape.
      JSONCase(quoted([0xC3] + Array(#"\u00a9"#.utf8)), nil),
      JSONCase(quoted([0xF0, 0x9F] + Array(#"\u0098"#.utf8)), nil),
    ]
  }
}
