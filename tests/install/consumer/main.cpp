#include <paceline/error.h>
#include <paceline/version.h>

#include <iostream>

int main() {
  if (paceline::name(paceline::ErrorCode::io) != "io") return 1;
  std::cout << "paceline " << paceline::version() << "\n";
  return 0;
}
