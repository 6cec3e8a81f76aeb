extension DeflateAgreement {
  /// What deflates at this end.
  func deflater(for role: Role, level: Int) -> MessageDeflater {
    switch role {
    case .client:
      MessageDeflater(
        level: level, windowBits: clientWindowBits, takesContextOver: clientTakesContextOver)
    case .server:
      MessageDeflater(
        level: level, windowBits: serverWindowBits, takesContextOver: serverTakesContextOver)
    }
  }

  /// What inflates at this end.
  func inflater(for role: Role) -> MessageInflater {
    switch role {
    case .client:
      MessageInflater(windowBits: serverWindowBits, takesContextOver: serverTakesContextOver)
    case .server:
      MessageInflater(windowBits: clientWindowBits, takesContextOver: clientTakesContextOver)
    }
  }
}
