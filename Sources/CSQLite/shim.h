#ifndef CLOUDSYNC_CSQLITE_SHIM_H
#define CLOUDSYNC_CSQLITE_SHIM_H

#include <sqlite3.h>

#endif
