// The bound: a blocking socket and the few lines of WebSocket that this exchange needs, written by
// hand. It sends each message with a call of its own, as the libraries do.
//
// Build: g++ -O3 -march=native -std=c++17 raw_client.cpp -o raw_client

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report.h"

namespace {

[[noreturn]] void fail(const char *what) {
  perror(what);
  exit(1);
}

int connected_to(int port) {
  int descriptor = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(descriptor, reinterpret_cast<sockaddr *>(&address), sizeof address)) fail("connect");
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return descriptor;
}

void send_all(int descriptor, const void *bytes, size_t count) {
  const char *next = static_cast<const char *>(bytes);
  while (count) {
    ssize_t sent = send(descriptor, next, count, MSG_NOSIGNAL);
    if (sent <= 0) fail("send");
    next += sent;
    count -= sent;
  }
}

// Asks for a WebSocket and reads the answer, behind which nothing comes before we have sent.
void shake_hands(int descriptor) {
  std::string request =
      "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: AAECAwQFBgcICQoLDA0ODw==\r\nSec-WebSocket-Version: 13\r\n\r\n";
  send_all(descriptor, request.data(), request.size());
  std::string answer;
  while (answer.find("\r\n\r\n") == std::string::npos) {
    char bytes[512];
    ssize_t count = recv(descriptor, bytes, sizeof bytes, 0);
    if (count <= 0) fail("handshake");
    answer.append(bytes, count);
  }
  if (answer.rfind("HTTP/1.1 101 ", 0)) fail("handshake");
}

// Builds each message anew: header, masking key, masked payload.
class Sender {
 public:
  Sender(int descriptor, size_t size) : descriptor_(descriptor), payload_(size, 'a') {}

  void send() {
    size_t size = payload_.size(), length = 0;
    frame_.resize(14 + size);
    frame_[length++] = 0x82;
    if (size < 126) {
      frame_[length++] = 0x80 | size;
    } else {
      int bytes = size < 65536 ? 2 : 8;
      frame_[length++] = 0x80 | (bytes == 2 ? 126 : 127);
      for (int i = bytes - 1; i >= 0; i--) frame_[length++] = uint64_t(size) >> (8 * i);
    }
    // Not unpredictable, as RFC 6455 wants it in earnest; but another one for each frame.
    key_ = key_ * 1664525 + 1013904223;
    memcpy(&frame_[length], &key_, 4);
    length += 4;
    mask(&frame_[length]);
    send_all(descriptor_, frame_.data(), length + size);
  }

 private:
  void mask(uint8_t *target) const {
    uint64_t twice = key_ | uint64_t(key_) << 32;
    size_t done = 0;
    for (; done + 8 <= payload_.size(); done += 8) {
      uint64_t word;
      memcpy(&word, &payload_[done], 8);
      word ^= twice;
      memcpy(target + done, &word, 8);
    }
    for (; done < payload_.size(); done++) target[done] = payload_[done] ^ twice >> 8 * (done & 3);
  }

  int descriptor_;
  uint32_t key_ = 1;
  std::vector<uint8_t> payload_, frame_;
};

// Finds the ends of messages in what comes.
class Reader {
 public:
  explicit Reader(int descriptor) : descriptor_(descriptor), bytes_(256 << 10) {}

  // How many messages one read completes.
  long read() {
    ssize_t count = recv(descriptor_, bytes_.data(), bytes_.size(), 0);
    if (count <= 0) fail("recv");
    const uint8_t *next = bytes_.data(), *end = next + count;
    long messages = 0;
    while (next < end) {
      if (left_) {
        uint64_t piece = std::min<uint64_t>(left_, end - next);
        left_ -= piece;
        next += piece;
      } else {
        header_[there_++] = *next++;
        if (there_ < 2 || there_ < header_length()) continue;
        left_ = payload_length();
        there_ = 0;
      }
      if (!left_) messages++;
    }
    return messages;
  }

 private:
  size_t header_length() const { return header_[1] == 126 ? 4 : header_[1] == 127 ? 10 : 2; }

  uint64_t payload_length() const {
    if (header_[1] < 126) return header_[1];
    uint64_t length = 0;
    for (size_t i = 2; i < header_length(); i++) length = length << 8 | header_[i];
    return length;
  }

  int descriptor_;
  std::vector<uint8_t> bytes_;
  uint8_t header_[10];
  size_t there_ = 0;
  uint64_t left_ = 0;
};

}  // namespace

int main(int argc, char **argv) {
  bench bench = bench_from(argc, argv);
  int descriptor = connected_to(bench.port);
  shake_hands(descriptor);
  Sender sender(descriptor, bench.size);
  Reader reader(descriptor);
  bench_start(&bench);
  long sent = 0, received = 0;
  for (; sent < std::min(bench.inflight, bench.count); sent++) sender.send();
  while (received < bench.count) {
    received += reader.read();
    for (; sent < bench.count && sent - received < bench.inflight; sent++) sender.send();
  }
  bench_report(&bench, "raw-c++");
  close(descriptor);
}
