// Glibc's and Musl's Swift modules do not export epoll, eventfd and timerfd; Darwin needs none of it.
#ifndef CEVENTLOOP_SHIM_H
#define CEVENTLOOP_SHIM_H

#if defined(__linux__)
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#endif

#endif
