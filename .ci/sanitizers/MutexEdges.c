// Tells the thread sanitizer of the locks that it can't see.
//
// `Synchronization.Mutex` takes and leaves a free lock in code that is inlined into ours, which the
// sanitizer follows. A contended one it takes and leaves in two functions of a library of the
// toolchain that is not instrumented, so that what the lock puts in order looks like a race. Loaded
// before that library, these two functions stand in front of its own: they do what it does, and say
// what happened, for the very lock it happened to. Nothing is suppressed.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Absent in programs that are not instrumented, such as a shell that a test starts.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

// Synchronization._MutexHandle._lockSlow(Swift.UInt32) -> () and _unlockSlow() -> ()
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

typedef SWIFT void Lock(uint32_t thread, SELF void *handle);
typedef SWIFT void Unlock(SELF void *handle);

static void *original(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (!function) {
    fprintf(stderr, "MutexEdges: this toolchain's Mutex has no %s\n", name);
    abort();
  }
  return function;
}

SWIFT void lockSlow(uint32_t thread, SELF void *handle) __asm__(LOCK);
SWIFT void lockSlow(uint32_t thread, SELF void *handle) {
  static _Atomic(Lock *) found;
  Lock *function = found;
  if (!function) found = function = (Lock *)original(LOCK);
  function(thread, handle);
  if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT void unlockSlow(SELF void *handle) __asm__(UNLOCK);
SWIFT void unlockSlow(SELF void *handle) {
  static _Atomic(Unlock *) found;
  Unlock *function = found;
  if (!function) found = function = (Unlock *)original(UNLOCK);
  if (__tsan_release) __tsan_release(handle);
  function(handle);
}
