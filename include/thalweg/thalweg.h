#pragma once

// All of Thalweg.

#include <thalweg/base/error.h>
