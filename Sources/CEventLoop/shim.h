// What Glibc's and Musl's Swift modules do not export, or export as different types. Darwin needs
// none of it.
#ifndef CEVENTLOOP_SHIM_H
#define CEVENTLOOP_SHIM_H

#if defined(__linux__)
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>

// Enumerations in one C library, macros in the other: here they are plain numbers.
static const uint32_t cel_epoll_in = EPOLLIN;
static const uint32_t cel_epoll_out = EPOLLOUT;
static const uint32_t cel_epoll_broken = EPOLLERR | EPOLLHUP;
static const uint32_t cel_epoll_edge = EPOLLET;
static const int cel_epoll_cloexec = EPOLL_CLOEXEC;
static const int cel_eventfd_flags = EFD_NONBLOCK | EFD_CLOEXEC;
static const int cel_timerfd_flags = TFD_NONBLOCK | TFD_CLOEXEC;
static const int cel_timerfd_absolute = TFD_TIMER_ABSTIME;
static const int cel_stream_type = SOCK_STREAM;
static const int cel_stream_flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
static const int cel_raw_type = SOCK_RAW;

// Behind _GNU_SOURCE in netdb.h, which the Swift modules do not define. The numbers are part of the
// ABI of both libraries.
static const int cel_eai_nodata = -5;
static const int cel_eai_addrfamily = -9;

// struct sockaddr_nl. Neither this nor the numbers of rtnetlink come from the kernel's own headers:
// the Static Linux SDK, for one, has none of them.
struct cel_netlink_address {
  uint16_t family;
  uint16_t padding;
  uint32_t port;
  uint32_t groups;
};

// Behind _GNU_SOURCE in sys/socket.h.
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);

// Nanoseconds. In C, because Swift finds timespec in another module, depending on what a file
// imports. Fails only for a clock that does not exist; this one does since Linux 2.6.39.
static inline int64_t cel_continuous_time(void) {
  struct timespec time = {0, 0};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// prctl is variadic, which Swift cannot call.
static inline int cel_name_thread(const char *name) { return prctl(PR_SET_NAME, name); }
#endif

#endif
