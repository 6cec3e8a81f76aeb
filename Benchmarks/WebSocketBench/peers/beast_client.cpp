// Boost.Beast (Debian libboost-dev), blocking or asynchronous.
//
//   beast_client PORT SIZE INFLIGHT COUNT sync|async
//
// Build: g++ -O3 -march=native -std=c++17 beast_client.cpp -lpthread -o beast_client

#include <algorithm>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <string>
#include <vector>

#include "report.h"

namespace asio = boost::asio;
namespace beast = boost::beast;
using Socket = beast::websocket::stream<asio::ip::tcp::socket>;

namespace {

void open(Socket &socket, int port) {
  socket.next_layer().connect({asio::ip::address_v4::loopback(), uint16_t(port)});
  socket.next_layer().set_option(asio::ip::tcp::no_delay(true));
  socket.handshake("127.0.0.1", "/");
  socket.binary(true);
  // A message is one frame, as with the other clients.
  socket.auto_fragment(false);
  socket.read_message_max(64 << 20);
  socket.write_buffer_bytes(128 << 10);
}

void blocking(Socket &socket, bench &bench) {
  std::vector<char> payload(bench.size, 'a');
  beast::flat_buffer received;
  bench_start(&bench);
  long sent = 0;
  for (; sent < std::min(bench.inflight, bench.count); sent++) socket.write(asio::buffer(payload));
  for (long got = 0; got < bench.count; got++) {
    socket.read(received);
    received.consume(received.size());
    if (sent == bench.count) continue;
    socket.write(asio::buffer(payload));
    sent++;
  }
}

// Reads and writes side by side; Beast allows one of each at a time.
class Exchange {
 public:
  Exchange(asio::io_context &context, Socket &socket, bench &bench)
      : context_(context), socket_(socket), bench_(bench), payload_(bench.size, 'a') {}

  void run() {
    bench_start(&bench_);
    write();
    read();
    context_.run();
  }

 private:
  void write() {
    if (is_writing_ || sent_ == bench_.count || sent_ - received_ == bench_.inflight) return;
    is_writing_ = true;
    sent_++;
    socket_.async_write(asio::buffer(payload_), [this](beast::error_code error, size_t) {
      if (error) throw beast::system_error(error);
      is_writing_ = false;
      write();
    });
  }

  void read() {
    socket_.async_read(buffer_, [this](beast::error_code error, size_t) {
      if (error) throw beast::system_error(error);
      buffer_.consume(buffer_.size());
      if (++received_ == bench_.count) return context_.stop();
      write();
      read();
    });
  }

  asio::io_context &context_;
  Socket &socket_;
  bench &bench_;
  std::vector<char> payload_;
  beast::flat_buffer buffer_;
  bool is_writing_ = false;
  long sent_ = 0, received_ = 0;
};

}  // namespace

int main(int argc, char **argv) {
  bench bench = bench_from(argc, argv);
  bool is_async = argc > 5 && std::string(argv[5]) == "async";
  asio::io_context context(1);
  Socket socket(context);
  open(socket, bench.port);
  if (is_async) {
    Exchange(context, socket, bench).run();
  } else {
    blocking(socket, bench);
  }
  bench_report(&bench, is_async ? "beast-async" : "beast-sync");
}
