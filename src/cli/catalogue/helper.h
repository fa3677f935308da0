#pragma once

#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace paceline::cli {

/// Ends the program with this code; what is to be said has been said.
class ExitWith : public std::exception {
 public:
  explicit ExitWith(int code) : code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

/// Exit code of a program that Ctrl-C ended.
constexpr int kInterrupted = 130;

/// fetch_model.py: share/paceline beside the installed bin/, or scripts/ of the source tree above
/// the build folder. Throws Error{not_found}.
std::filesystem::path find_fetch_helper(const std::filesystem::path& executable);

/// Runs `python3 script arguments...` on the same terminal, without a shell, and waits. Returns its
/// exit code, 128 + n when signal n ended it. Ctrl-C reaches the child only. Throws
/// Error{not_found} when there is no python3.
int run_python(const std::filesystem::path& script, const std::vector<std::string>& arguments);

}  // namespace paceline::cli
