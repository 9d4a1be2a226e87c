// error: no matching function for call to 'thalweg::Error::Error(thalweg::ErrorKind)'
#include <thalweg/thalweg.h>

thalweg::Error error(thalweg::ErrorKind::io);
