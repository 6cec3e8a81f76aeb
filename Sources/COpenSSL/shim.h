// OpenSSL 3, and those of its macros that Swift cannot import.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

static inline long cssl_set_server_name(SSL *ssl, const char *name) {
  return SSL_set_tlsext_host_name(ssl, name);
}
static inline long cssl_set_minimum_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_min_proto_version(context, version);
}
static inline size_t cssl_pending(BIO *bio) { return BIO_ctrl_pending(bio); }
static inline void cssl_set_end_of_memory(BIO *bio, int value) {
  BIO_set_mem_eof_return(bio, value);
}

#endif
