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
      MessageInflater(takesContextOver: serverTakesContextOver)
    case .server:
      MessageInflater(takesContextOver: clientTakesContextOver)
    }
  }
}
