extension SimulatedEventLoop {
  /// Makes a task that prefers this loop and is known by name, should it be left.
  @discardableResult
  public func task<Success>(
    _ name: String, _ operation: sending @escaping () async -> Success
  ) -> Task<Success, Never> {
    time.willMakeTask(name)
    return Task(name: name, executorPreference: self, operation: operation)
  }

  /// Makes a task that may fail, prefers this loop and is known by name, should it be left.
  @discardableResult
  public func task<Success>(
    _ name: String, _ operation: sending @escaping () async throws -> Success
  ) -> Task<Success, any Error> {
    time.willMakeTask(name)
    return Task(name: name, executorPreference: self, operation: operation)
  }
}
