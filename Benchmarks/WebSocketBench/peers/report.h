// What every C and C++ client here shares: its arguments, its stopwatch and the line it prints.
//
//   CLIENT PORT SIZE INFLIGHT COUNT
//
// COUNT binary messages of SIZE bytes to an echo server on 127.0.0.1:PORT and back, with at most
// INFLIGHT of them under way. The clock and the processor's time run from the first message to the
// last echo; connecting and the handshake are outside. MB/s counts a message once, though each of
// its bytes goes out and comes back.

#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

struct bench {
  int port;
  size_t size;
  long inflight;
  long count;
  double wall;       // When it began, in seconds; so are the next two.
  double processor;
};

static inline double wall_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline double processor_clock(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static inline struct bench bench_from(int argc, char **argv) {
  struct bench bench = {0, 0, 0, 0, 0, 0};
  if (argc >= 5) {
    bench.port = atoi(argv[1]);
    bench.size = (size_t)atol(argv[2]);
    bench.inflight = atol(argv[3]);
    bench.count = atol(argv[4]);
  }
  if (bench.port <= 0 || bench.inflight <= 0 || bench.count <= 0) {
    fprintf(stderr, "usage: %s PORT SIZE INFLIGHT COUNT\n", argv[0]);
    exit(2);
  }
  return bench;
}

static inline void bench_start(struct bench *bench) {
  bench->processor = processor_clock();
  bench->wall = wall_clock();
}

static inline void bench_report(const struct bench *bench, const char *name) {
  double wall = wall_clock() - bench->wall;
  double processor = processor_clock() - bench->processor;
  double count = (double)bench->count;
  printf("%s size=%zu win=%ld n=%ld rt/s=%.0f MB/s=%.1f us_cpu/msg=%.2f\n", name, bench->size,
         bench->inflight, bench->count, count / wall, count * (double)bench->size / wall / 1e6,
         processor / count * 1e6);
}

#endif
