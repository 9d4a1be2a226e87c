#include <iostream>

#include <thalweg/base/error.h>

int main() {
  try {
    throw thalweg::Error(thalweg::ErrorKind::invalid, "consumer: it works");
  } catch (const thalweg::Error& error) {
    std::cout << thalweg::name(error.kind()) << ": " << error.what() << "\n";
  }
}
