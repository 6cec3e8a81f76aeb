@main
struct CrowdBench {
  static func main() {}
}
