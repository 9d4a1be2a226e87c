// The composition root: the one place that knows all rooms.

#include <thalweg/base/error.h>
