// A WebSocket echo server that is never what is measured: one thread, epoll, no checks of the
// client (it is for benchmarks only).
//
//   wsecho [PORT]      on 127.0.0.1; without a port, or with 0, the system chooses. Prints the port.
//
// What a read brought is turned into the echo where it lies: the payload is unmasked and moved over
// the masking key, which the echo does not have, so that all frames of one read stand behind each
// other and go out with one write. A frame that is longer than a read is echoed piece by piece.
//
// Build: g++ -O3 -march=native -std=c++17 wsecho.cpp -lcrypto -o wsecho

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace {

constexpr size_t kReadSize = 256 << 10;
// The longest header a client sends: two bytes, eight of length, four of masking key.
constexpr size_t kHeaderSize = 14;

enum Opcode : uint8_t { kClose = 8, kPing = 9, kPong = 10 };

struct Client {
  int socket;
  bool is_open = false;     // The handshake is done.
  bool is_closing = false;  // A close frame has come; its echo is the last that goes out.
  bool is_dropping = false; // The frame under way is not echoed.
  bool waits_to_write = false;
  uint64_t left = 0;        // Payload of the frame under way that is still to come.
  uint8_t key[4] = {};      // Its masking key, turned so that key[0] is for the next byte.
  std::string head;         // The request, or the start of a frame's header.
  std::string unsent;
  size_t sent = 0;          // How much of unsent is out.
};

int poller;

// One read may start with the rest of a header that an earlier read has cut.
uint8_t buffer[kHeaderSize + kReadSize];

// Moves count bytes down to where they go out from, and takes the mask off on the way.
void unmask(uint8_t *target, const uint8_t *source, size_t count, uint8_t key[4]) {
  uint8_t twice[8];
  memcpy(twice, key, 4);
  memcpy(twice + 4, key, 4);
  uint64_t mask;
  memcpy(&mask, twice, 8);
  size_t done = 0;
  for (; done + 8 <= count; done += 8) {
    uint64_t word;
    memcpy(&word, source + done, 8);
    word ^= mask;
    memcpy(target + done, &word, 8);
  }
  for (; done < count; done++) target[done] = source[done] ^ twice[done & 7];
  std::rotate(key, key + (count & 3), key + 4);
}

std::string answer_to(const std::string &request) {
  const char *name = strcasestr(request.c_str(), "\r\nsec-websocket-key:");
  if (!name) return "";
  const char *value = strchr(name, ':') + 1;
  value += strspn(value, " \t");
  std::string key(value, strcspn(value, " \t\r"));
  key += "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  uint8_t digest[SHA_DIGEST_LENGTH], text[64];
  SHA1(reinterpret_cast<const uint8_t *>(key.data()), key.size(), digest);
  EVP_EncodeBlock(text, digest, SHA_DIGEST_LENGTH);
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Sec-WebSocket-Accept: " +
         std::string(reinterpret_cast<char *>(text)) + "\r\n\r\n";
}

// How long the header at this place is; more than there is, if it is not all there.
size_t header_length(const uint8_t *header, size_t there) {
  if (there < 2) return 2;
  size_t length = header[1] & 0x7f;
  return 2 + (length == 126 ? 2 : length == 127 ? 8 : 0) + (header[1] & 0x80 ? 4 : 0);
}

// Turns a frame's header into that of its echo; gives back how long that is.
size_t take_header(Client &client, uint8_t *target, const uint8_t *header, size_t length) {
  size_t extended = length - 2 - (header[1] & 0x80 ? 4 : 0);
  client.left = header[1] & 0x7f;
  if (extended) {
    client.left = 0;
    for (size_t i = 0; i < extended; i++) client.left = client.left << 8 | header[2 + i];
  }
  if (header[1] & 0x80) {
    memcpy(client.key, header + 2 + extended, 4);
  } else {
    memset(client.key, 0, 4);
  }
  uint8_t opcode = header[0] & 0x0f;
  client.is_dropping = opcode == kPong;
  client.is_closing |= opcode == kClose;
  if (client.is_dropping) return 0;
  uint8_t first = opcode == kPing ? 0x80 | kPong : header[0];
  uint8_t second = header[1] & 0x7f;
  memmove(target + 2, header + 2, extended);
  target[0] = first;
  target[1] = second;
  return 2 + extended;
}

// Turns frames, and pieces of them, into their echo, in place; gives back how long that is.
size_t echo(Client &client, uint8_t *bytes, size_t count) {
  uint8_t *source = bytes, *end = bytes + count, *target = bytes;
  while (source < end) {
    if (client.left) {
      size_t piece = std::min<uint64_t>(client.left, end - source);
      if (!client.is_dropping) {
        unmask(target, source, piece, client.key);
        target += piece;
      }
      client.left -= piece;
      source += piece;
      continue;
    }
    size_t there = end - source, length = header_length(source, there);
    if (there < length) {
      client.head.assign(reinterpret_cast<char *>(source), there);
      break;
    }
    target += take_header(client, target, source, length);
    source += length;
  }
  return target - bytes;
}

void watch(Client *client, bool to_write, int operation) {
  epoll_event event{};
  event.events = EPOLLIN | (to_write ? uint32_t(EPOLLOUT) : 0);
  event.data.ptr = client;
  epoll_ctl(poller, operation, client->socket, &event);
  client->waits_to_write = to_write;
}

void flush(Client *client) {
  while (client->sent < client->unsent.size()) {
    ssize_t count = send(client->socket, client->unsent.data() + client->sent,
                         client->unsent.size() - client->sent, MSG_NOSIGNAL);
    if (count <= 0) break;
    client->sent += count;
  }
  if (client->sent == client->unsent.size()) {
    client->unsent.clear();
    client->sent = 0;
  }
  bool to_write = !client->unsent.empty();
  if (to_write != client->waits_to_write) watch(client, to_write, EPOLL_CTL_MOD);
}

// Writes at once what the system takes, and keeps the rest: a client may send all it has in flight
// before it reads.
void write(Client *client, const uint8_t *bytes, size_t count) {
  size_t sent = 0;
  if (client->unsent.empty()) {
    ssize_t taken = send(client->socket, bytes, count, MSG_NOSIGNAL);
    if (taken > 0) sent = taken;
    if (sent == count) return;
  }
  client->unsent.append(reinterpret_cast<const char *>(bytes) + sent, count - sent);
  flush(client);
}

// False when the client is done with.
bool read(Client *client) {
  size_t start = 0;
  if (client->is_open) {
    start = client->head.size();
    memcpy(buffer, client->head.data(), start);
    client->head.clear();
  }
  ssize_t count = recv(client->socket, buffer + start, kReadSize, 0);
  if (count <= 0) {
    client->head.assign(reinterpret_cast<char *>(buffer), start);
    return count < 0 && errno == EAGAIN;
  }
  uint8_t *bytes = buffer;
  size_t length = start + count;
  if (!client->is_open) {
    size_t before = client->head.size();
    client->head.append(reinterpret_cast<char *>(buffer), count);
    size_t end = client->head.find("\r\n\r\n");
    if (end == std::string::npos) return client->head.size() < kReadSize;
    std::string answer = answer_to(client->head);
    if (answer.empty()) return false;
    write(client, reinterpret_cast<const uint8_t *>(answer.data()), answer.size());
    client->is_open = true;
    client->head.clear();
    bytes = buffer + (end + 4 - before);
    length = count - (end + 4 - before);
  }
  size_t answer = echo(*client, bytes, length);
  if (answer) write(client, bytes, answer);
  return true;
}

void accept_all(int listener) {
  int socket, one = 1;
  while ((socket = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) >= 0) {
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    Client *client = new Client;
    client->socket = socket;
    watch(client, false, EPOLL_CTL_ADD);
  }
}

int listen_on(int port) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  sockaddr *generic = reinterpret_cast<sockaddr *>(&address);
  if (bind(listener, generic, length) || listen(listener, 128) ||
      getsockname(listener, generic, &length)) {
    perror("wsecho");
    exit(1);
  }
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  return listener;
}

}  // namespace

int main(int argc, char **argv) {
  int listener = listen_on(argc > 1 ? atoi(argv[1]) : 0);
  poller = epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
  epoll_event events[64];
  for (;;) {
    int count = epoll_wait(poller, events, 64, -1);
    for (int i = 0; i < count; i++) {
      Client *client = static_cast<Client *>(events[i].data.ptr);
      if (!client) {
        accept_all(listener);
        continue;
      }
      bool goes_on = true;
      if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) goes_on = read(client);
      if (goes_on && client->waits_to_write) flush(client);
      bool is_over = client->is_closing && !client->left && client->unsent.empty();
      if (!goes_on || is_over) {
        close(client->socket);
        delete client;
      }
    }
  }
}
