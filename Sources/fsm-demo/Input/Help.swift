enum Help {
  static let tool = ""
  static let tour = ""
  static let simulate = ""
  static let scenarios = ""
  static let table = ""
  static let bench = ""
}
