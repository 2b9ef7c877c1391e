// Runs a piece of a test in a child process of its own: for what is read once, for what ends a process, and for what is
// printed.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <sstream>
#include <string>

#include "sanitizers.hpp"

namespace devobj::test {

/// The parts as text, one after the other.
template <class... Parts> std::string text(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

struct Child {
  int exit_status = -1;  ///< -1 if a signal ended it
  int signal = 0;        ///< 14 (SIGALRM): it hung
  std::string printed;   ///< on stdout and stderr
  std::string answer;    ///< what the body returned
};

inline std::string read_all(int descriptor) {
  std::string text;
  char part[4096];
  for (ssize_t n; (n = read(descriptor, part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(n));
  close(descriptor);
  return text;
}

/// Forks; the child runs `body` and leaves by exit(0), so that its static objects are destroyed. An exception's text
/// becomes the answer, "exception: ...", with exit status 3. A child that hangs is ended after `seconds`.
inline Child in_child(const std::function<std::string()>& body, unsigned seconds = 60) {
  std::fflush(nullptr);
  int printed[2], answer[2];
  if (pipe(printed) != 0 || pipe(answer) != 0) std::abort();
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(seconds);
    dup2(printed[1], STDOUT_FILENO);
    dup2(printed[1], STDERR_FILENO);
    for (int d : {printed[0], printed[1], answer[0]}) close(d);
    int status = 0;
    std::string text;
    try {
      text = body();
    } catch (const std::exception& e) {
      text = std::string("exception: ") + e.what();
      status = 3;
    }
    if (write(answer[1], text.data(), text.size()) != static_cast<ssize_t>(text.size())) status = 4;
    close(answer[1]);
    std::exit(status);
  }
  close(printed[1]);
  close(answer[1]);
  Child child;
  // A child prints little before it answers, so its pipe cannot be full.
  child.answer = read_all(answer[0]);
  child.printed = read_all(printed[0]);
  int state = 0;
  waitpid(pid, &state, 0);
  if (WIFEXITED(state)) child.exit_status = WEXITSTATUS(state);
  if (WIFSIGNALED(state)) child.signal = WTERMSIG(state);
  return child;
}

}  // namespace devobj::test

/// The child returned `expected`, exited with 0 and printed nothing.
#define EXPECT_CHILD(child, expected)                      \
  do {                                                     \
    const ::devobj::test::Child& the_child = (child);      \
    EXPECT_EQ(the_child.signal, 0);                        \
    EXPECT_EQ(the_child.exit_status, 0);                   \
    EXPECT_EQ(the_child.answer, expected);                 \
    EXPECT_EQ(the_child.printed, "");                      \
  } while (false)
