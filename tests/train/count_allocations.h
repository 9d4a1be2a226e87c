#pragma once

#include <functional>

/// How often `f` takes memory from the heap by operator new, in any thread.
int count_allocations(const std::function<void()>& f);
