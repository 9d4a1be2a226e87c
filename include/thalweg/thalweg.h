#pragma once

// All of Thalweg.

#include <thalweg/base/error.h>
#include <thalweg/data/idx.h>
#include <thalweg/data/loader.h>
