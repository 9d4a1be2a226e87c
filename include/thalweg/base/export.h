#pragma once

// Symbols are hidden unless marked, so that the library exports its public interface only.
#define THALWEG_API __attribute__((visibility("default")))
