#ifndef CLOUDSYNC_CLIBPQ_SHIM_H
#define CLOUDSYNC_CLIBPQ_SHIM_H

#include <libpq-fe.h>
#include <poll.h>

/* What Swift does not import: macros that are characters, and a callback's result. */

/* The SQLSTATE of a result, or NULL. */
static inline const char *cloudsync_state(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

/* The message of a result, or NULL. */
static inline const char *cloudsync_message(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}

/* Notes a warning in the flag that the connection was given. */
static inline void cloudsync_note_warning(void *flag, const PGresult *result) {
  const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity && severity[0] == 'W') *(int *)flag = 1;
}

/* Has the connection note warnings in the flag, and print none. */
static inline void cloudsync_note_warnings(PGconn *connection, int *flag) {
  PQsetNoticeReceiver(connection, cloudsync_note_warning, flag);
}

/* Waits until the socket can be read, or written if that is wanted; 0 after the time. */
static inline int cloudsync_wait(int socket, int writes, int milliseconds) {
  struct pollfd entry = {socket, (short)(POLLIN | (writes ? POLLOUT : 0)), 0};
  return poll(&entry, 1, milliseconds);
}

#endif
