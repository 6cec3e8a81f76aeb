// libwebsockets (Debian libwebsockets-dev): its own event loop, callbacks.
//
// Build: gcc -O3 lws_client.c -lwebsockets -o lws_client

#include <libwebsockets.h>
#include <stdbool.h>
#include <string.h>

#include "report.h"

static struct bench bench;
static unsigned char *message;  // LWS_PRE bytes for the library, then the payload.
static long sent, received;
static bool is_over, has_failed;

// Sends what may be in flight, until the socket takes no more.
static int send_some(struct lws *socket) {
  while (sent < bench.count && sent - received < bench.inflight) {
    // The library masks in place, so that the payload must be written anew.
    memset(message + LWS_PRE, 'a', bench.size);
    sent++;
    int written = lws_write(socket, message + LWS_PRE, bench.size, LWS_WRITE_BINARY);
    if (written < (int)bench.size) return -1;
    if (lws_send_pipe_choked(socket)) {
      lws_callback_on_writable(socket);
      break;
    }
  }
  return 0;
}

static int handle(struct lws *socket, enum lws_callback_reasons reason, void *user, void *bytes,
                  size_t count) {
  (void)user;
  (void)count;
  switch (reason) {
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
      bench_start(&bench);
      lws_callback_on_writable(socket);
      return 0;
    case LWS_CALLBACK_CLIENT_WRITEABLE:
      return send_some(socket);
    case LWS_CALLBACK_CLIENT_RECEIVE:
      // A message may come in several pieces.
      if (!lws_is_final_fragment(socket) || lws_remaining_packet_payload(socket)) return 0;
      is_over = ++received == bench.count;
      if (is_over) return -1;
      lws_callback_on_writable(socket);
      return 0;
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
    case LWS_CALLBACK_CLIENT_CLOSED:
      if (is_over) return 0;
      fprintf(stderr, "libwebsockets: %s\n", bytes ? (const char *)bytes : "closed");
      is_over = has_failed = true;
      return 0;
    default:
      return 0;
  }
}

int main(int argc, char **argv) {
  bench = bench_from(argc, argv);
  message = malloc(LWS_PRE + bench.size);
  lws_set_log_level(LLL_ERR, NULL);

  const struct lws_protocols protocols[] = {
      {.name = "bench", .callback = handle, .rx_buffer_size = 128 << 10},
      {.name = NULL},
  };
  struct lws_context_creation_info settings = {
      .port = CONTEXT_PORT_NO_LISTEN,
      .protocols = protocols,
      .pt_serv_buf_size = 128 << 10,
  };
  struct lws_context *context = lws_create_context(&settings);
  struct lws_client_connect_info target = {
      .context = context,
      .address = "127.0.0.1",
      .port = bench.port,
      .path = "/",
      .host = "127.0.0.1",
      .origin = "127.0.0.1",
      .local_protocol_name = "bench",
  };
  if (!lws_client_connect_via_info(&target)) {
    fprintf(stderr, "libwebsockets: cannot connect\n");
    return 1;
  }
  while (!is_over) lws_service(context, 0);
  if (has_failed) return 1;
  bench_report(&bench, "libwebsockets");
  return 0;
}
