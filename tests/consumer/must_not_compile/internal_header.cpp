// error: base/fail.h: No such file
#include <base/fail.h>
