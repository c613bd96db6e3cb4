/* SPDX-License-Identifier: Apache-2.0
 *
 * usage: unload LIBRARY
 * A thread that loads the library, is refused a call, unloads the library, and ends: what the
 * thread keeps of it must not lead into code that is gone. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void* use(void* path) {
  void* library = dlopen((const char*)path, RTLD_NOW);
  if (library == NULL) return NULL;
  int (*destroy)(void*);
  *(void**)&destroy = dlsym(library, "mluOpDestroy");
  const int refused = destroy != NULL && destroy(NULL) != 0;
  return dlclose(library) == 0 && refused ? path : NULL;
}

int main(int argc, char** argv) {
  pthread_t thread;
  void* used = NULL;
  if (argc != 2 || pthread_create(&thread, NULL, use, argv[1]) != 0) return 2;
  if (pthread_join(thread, &used) != 0 || used == NULL) return 1;
  puts("the thread has ended");
  return 0;
}
