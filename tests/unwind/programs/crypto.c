/* Hand-written assembly of libcrypto. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

typedef unsigned char *hash(const unsigned char *, unsigned long, unsigned char *);
typedef int set_key(const unsigned char *, int, void *);
typedef void block(const unsigned char *, unsigned char *, const void *);
typedef void *make(void);
typedef void *cipher(void);
typedef int init(void *, void *, void *, const void *, const void *);
typedef int update(void *, void *, int *, const void *, int);

unsigned char text[4096], out[8192], key[512];
void *crypto;
NOINLINE void *find(const char *name) { return dlsym(crypto, name); }

NOINLINE void hashes(hash *one) { one(text, sizeof text, out); }
NOINLINE void aes(block *encrypt) { encrypt(text, out, key); }
NOINLINE void updates(update *by, void *context) {
    int length;
    by(context, out, &length, text, sizeof text);
}

NOINLINE void enciphers(const char *name) {
    void *context = ((make *)find("EVP_CIPHER_CTX_new"))();
    ((init *)find("EVP_EncryptInit_ex"))(context, ((cipher *)find(name))(), 0, key, text);
    updates((update *)find("EVP_EncryptUpdate"), context);
}

int main(void) {
    crypto = dlopen("libcrypto.so.3", RTLD_NOW);
    if (!crypto)
        return 1;
    hashes((hash *)find("SHA1"));
    hashes((hash *)find("SHA256"));
    hashes((hash *)find("SHA512"));
    ((set_key *)find("AES_set_encrypt_key"))(text, 256, key);
    aes((block *)find("AES_encrypt"));
    enciphers("EVP_aes_256_gcm");
    enciphers("EVP_chacha20_poly1305");
    return 0;
}
