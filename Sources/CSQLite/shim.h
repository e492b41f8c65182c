#ifndef CLOUDSYNC_CSQLITE_SHIM_H
#define CLOUDSYNC_CSQLITE_SHIM_H

#include <sqlite3.h>

/* What Swift cannot say itself: the destructor constant is a cast macro, and sqlite3_db_config
   and sqlite3_config take a variable list of arguments. */

/* Binds a copy of the text, which may hold any byte, zero too. */
static inline int cloudsync_bind_text(
    sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 count) {
  return sqlite3_bind_text64(statement, index, text, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* Binds a copy of the bytes. */
static inline int cloudsync_bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/* Says whether closing the last connection folds the write-ahead log into the file. */
static inline int cloudsync_checkpoint_on_close(sqlite3 *database, int enabled) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !enabled, (int *)0);
}

/* Has the library of this process count no memory, which takes one lock for all threads. */
static inline int cloudsync_count_no_memory(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

#endif
