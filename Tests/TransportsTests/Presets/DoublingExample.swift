// The example of `Preset.doubling`, compiled; `DoublingPresetTests` checks that it is shown so.

import ConnectionFSM
import Transports

func doublingExample(
  _ url: WebSocketURL, on loop: SocketEventLoop,
  onMessageReceived: @escaping @Sendable (String) -> Void,
  onConnectionStateChanged: @escaping @Sendable (Bool) -> Void
) throws -> Connection {
  // begin
  let connection = try Connection(Preset.doubling(url), over: TCPDialer(loop: loop))
  let (messages, states) = (connection.messages(), connection.states())
  Task {
    for try await message in messages where message.kind == .text {
      onMessageReceived(message.text)
    }
  }
  Task {
    var isConnected = false
    for await state in states where (state.phase == .open) != isConnected {
      isConnected.toggle()
      onConnectionStateChanged(isConnected)
    }
  }
  connection.connect(to: url.endpoint)
  // end
  return connection
}
