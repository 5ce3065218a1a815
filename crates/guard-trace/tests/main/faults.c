/* A disk that fails: writing and synchronising files below $FAULT_UNDER fail from the $FAULT_AT-th time on.
   Loaded before the C library by tests/main/faults.rs; nothing of Guard is built with it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long seen;

static int is_ours(int fd) {
  const char *under = getenv("FAULT_UNDER");
  char link[64], path[PATH_MAX];
  if (under == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n < 0) return 0;
  path[n] = 0;
  return strncmp(path, under, strlen(under)) == 0;
}

/* Whether this operation of a file fails now; `kind` is what may fail. */
static int fails(int fd, int syncing) {
  const char *kind = getenv("FAULT_KIND"), *at = getenv("FAULT_AT");
  if (kind == NULL || at == NULL || !is_ours(fd)) return 0;
  if (syncing != (strcmp(kind, "sync") == 0)) return 0;
  return atomic_fetch_add(&seen, 1) + 1 >= atol(at);
}

static ssize_t failed(size_t count, ssize_t (*half)(int, const void *, size_t, off_t), int fd,
                      const void *bytes, off_t at) {
  const char *kind = getenv("FAULT_KIND");
  if (strcmp(kind, "short") == 0 && count > 1) {
    /* Half of it arrives, and then the disk is full. */
    setenv("FAULT_KIND", "full", 1);
    return half(fd, bytes, count / 2, at);
  }
  errno = strcmp(kind, "write") == 0 ? EIO : ENOSPC;
  return -1;
}

static ssize_t plain(int fd, const void *bytes, size_t count, off_t at) {
  static ssize_t (*real)(int, const void *, size_t);
  (void)at;
  if (real == NULL) real = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  return real(fd, bytes, count);
}

static ssize_t placed(int fd, const void *bytes, size_t count, off_t at) {
  static ssize_t (*real)(int, const void *, size_t, off_t);
  if (real == NULL) real = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
  return real(fd, bytes, count, at);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  return fails(fd, 0) ? failed(count, plain, fd, bytes, 0) : plain(fd, bytes, count, 0);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
  return fails(fd, 0) ? failed(count, placed, fd, bytes, at) : placed(fd, bytes, count, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t at) {
  return pwrite(fd, bytes, count, at);
}

static int synced(int fd, const char *name) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  if (fails(fd, 1)) {
    errno = EIO;
    return -1;
  }
  return real(fd);
}

int fsync(int fd) { return synced(fd, "fsync"); }
int fdatasync(int fd) { return synced(fd, "fdatasync"); }
