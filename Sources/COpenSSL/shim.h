// OpenSSL 3, and those of its macros that Swift cannot import.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

static const uint64_t cssl_no_renegotiation = SSL_OP_NO_RENEGOTIATION;
static const unsigned long cssl_name_format = XN_FLAG_RFC2253;

static inline long cssl_set_server_name(SSL *ssl, const char *name) {
  return SSL_set_tlsext_host_name(ssl, name);
}
static inline long cssl_set_minimum_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_min_proto_version(context, version);
}
static inline long cssl_set_maximum_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_max_proto_version(context, version);
}
static inline long cssl_release_buffers_when_idle(SSL_CTX *context) {
  return SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}
static inline long cssl_cache_sessions_outside(SSL_CTX *context) {
  return SSL_CTX_set_session_cache_mode(
      context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
}
static inline long cssl_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
  return SSL_CTX_add1_chain_cert(context, certificate);
}
static inline int cssl_certificate_count(const STACK_OF(X509) *stack) {
  return sk_X509_num(stack);
}
static inline X509 *cssl_certificate(const STACK_OF(X509) *stack, int index) {
  return sk_X509_value(stack, index);
}
static inline STACK_OF(X509) *cssl_new_certificates(void) { return sk_X509_new_null(); }
static inline int cssl_append_certificate(STACK_OF(X509) *stack, X509 *certificate) {
  return sk_X509_push(stack, certificate);
}
static inline void cssl_free_certificates(STACK_OF(X509) *stack) { sk_X509_free(stack); }
static inline long cssl_memory(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }
static inline EVP_PKEY *cssl_new_key(const char *curve) { return EVP_EC_gen(curve); }
static inline void cssl_free_text(void *text) { OPENSSL_free(text); }

#endif
