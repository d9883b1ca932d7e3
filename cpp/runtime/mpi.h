// runtime/mpi.h - the MPI library: sends, receives and waits. Nothing else calls it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/interpreter_lock.h"
#include "runtime/node_window.h"
#include "runtime/processes.h"

namespace shardax::runtime {

// A handle of MPI: an int (MPICH, Intel MPI) lies in its low half, a pointer (Open MPI) fills it.
using MpiHandle = std::uintptr_t;

// The library that mpi4py has loaded: functions by their addresses, handles by their values. No
// mpi.h is needed to build, and one build serves each library.
struct MpiLibrary {
  int rank = 0;
  int size = 1;
  bool yields = false;  // more processes than cores: waiting gives the core to others
  int any_tag = -1;
  int most_tag = 32767;
  std::size_t tag_at = 0;  // the offset of the tag in the library's MPI_Status
  MpiHandle communicator = 0;
  MpiHandle later = 0;  // a second communicator, for what follows the start of a message
  MpiHandle texts = 0;  // a third one, for the texts of errors
  MpiHandle byte = 0;
  // Each process's part of the node's shared window (runtime/node_window.h); null: another node's.
  std::vector<std::byte*> segments;
  int (*isend)(const void*, int, MpiHandle, int, int, MpiHandle, MpiHandle*) = nullptr;
  int (*irecv)(void*, int, MpiHandle, int, int, MpiHandle, MpiHandle*) = nullptr;
  int (*test)(MpiHandle*, int*, void*) = nullptr;
  int (*cancel)(MpiHandle*) = nullptr;
  int (*abort)(MpiHandle, int) = nullptr;
  int (*error_string)(int, char*, int*) = nullptr;
};

// Joins the processes of the library's communicator. Called once, before the first message.
void join_processes(const MpiLibrary& library);

// Is this a child that a process which has joined made by fork?
bool is_forked();

// The time that a message waits for other processes; 0: for ever.
void set_message_timeout(double seconds);

// Ends all processes, this one included, with that exit code.
[[noreturn]] void abort_processes(int code);

// One wait for other processes. It spins for some microseconds; then it releases the interpreter's
// lock and lets signals through.
class Waiting {
 public:
  // `peers` are the processes that are waited for, `counts` the posts to them.
  Waiting(const StepLabel& label, ProcessGroup peers, const PostCounts& counts)
      : label_(label), peers_(peers), counts_(counts) {}

  // Counts a look at the awaited data that was in vain. Throws if a signal ends the wait, a peer of
  // this node is at another step or has ended, or the time is over.
  void turn() {
    if (++turns_ % turns_until_clock != 0 && !released_) return;
    look_around();
  }

 private:
  static constexpr int turns_until_clock = 64;
  using Clock = std::chrono::steady_clock;
  void look_around();
  [[noreturn]] void time_is_over() const;

  const StepLabel& label_;
  ProcessGroup peers_;
  const PostCounts& counts_;
  int turns_ = 0;
  Clock::time_point start_, next_check_;
  std::optional<LockReleased> released_;
};

// Sends and receives of one message; wait() ends them. If an exception leaves them under way, the
// destructor ends them: their memory may be freed after it.
class Exchange {
 public:
  // A message starts one, and may have later ones when it ends. The first ones of several messages
  // meet their counterparts in the order in which they are made; so do the later ones.
  enum class Part { first, later };
  Exchange(Part part, const StepLabel& label, ProcessGroup peers, const PostCounts& counts);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void receive(std::byte* to, std::size_t bytes, int source);
  void send(const std::byte* from, std::size_t bytes, int destination);
  void wait();
  // Gives the library time to move bytes.
  void progress();

 private:
  struct Pending {
    MpiHandle request = 0;
    int source = -1;  // -1: a send
  };
  // Looks at the next request; true: it has ended.
  bool test_next();

  MpiHandle communicator_;
  const StepLabel& label_;
  ProcessGroup peers_;
  const PostCounts& counts_;
  std::vector<Pending> pending_;
  std::size_t ended_ = 0;
};

}  // namespace shardax::runtime
