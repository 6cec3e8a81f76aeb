// zlib, and those of its macros that Swift cannot import.
#ifndef CZLIB_SHIM_H
#define CZLIB_SHIM_H

// The input is only read.
#define ZLIB_CONST
#include <zlib.h>

static inline int czlib_deflate_init(
    z_stream *stream, int level, int window_bits, int memory_level) {
  return deflateInit2(stream, level, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY);
}
static inline int czlib_inflate_init(z_stream *stream, int window_bits) {
  return inflateInit2(stream, window_bits);
}

#endif
