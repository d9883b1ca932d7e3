// runtime/transfer.cpp - the messages that are under way.
#include "runtime/transfer.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "base/errors.h"
#include "base/per_thread.h"
#include "runtime/message_times.h"
#include "runtime/mpi.h"
#include "runtime/node_segment.h"

namespace shardax::runtime {
namespace {

// The thread that sends messages, as long as one is under way.
std::atomic<std::thread::id> sender;
std::atomic<bool> failed = false;
std::vector<Transfer*> under_way;  // the sender's, in the order in which they began

struct Kept {
  const void* key;
  TransferPtr transfer;
};
std::vector<Kept>& kept_transfers() { return per_thread<std::vector<Kept>, struct KeptTag>(); }

constinit thread_local std::uint32_t current_program = 0;

// Posts are kept for the own ones, and for as many of a process that is ahead.
static_assert(2 * most_under_way <= kept_posts);

void check_sender(const MessageLabel& label) {
  if (is_forked()) {
    fail(ErrorKind::runtime_error, "message: '", label.text, "' is to be sent by a child that a ",
         "process made by fork; only the process itself can.");
  }
  if (failed) {
    fail(ErrorKind::runtime_error, "message: '", label.text, "' comes after a message that ",
         "failed or was interrupted; the processes may be at different steps. Start the program ",
         "again.");
  }
  std::thread::id nobody;
  const std::thread::id self = std::this_thread::get_id();
  if (!sender.compare_exchange_strong(nobody, self) && nobody != self) {
    fail(ErrorKind::runtime_error, "message: '", label.text, "' comes while another thread of ",
         "this process sends one; let one thread run programs that exchange messages.");
  }
}

}  // namespace

bool messages_failed() { return failed; }

Transfer::UnderWay::UnderWay(Transfer& transfer, const MessageLabel& label, bool has_parts)
    : transfer_(transfer), has_parts_(has_parts) {
  check_sender(label);
  if (under_way.size() == most_under_way) under_way.front()->finish();
  const auto other = std::ranges::find_if(
      under_way, [&](const Transfer* t) { return has_parts && t->under_way_.has_parts(); });
  if (other != under_way.end()) (*other)->finish();
  under_way.push_back(&transfer);
}

Transfer::UnderWay::~UnderWay() {
  leave();
  if (under_way.empty()) sender = std::thread::id();
}

void Transfer::UnderWay::leave() { std::erase(under_way, &transfer_); }

Transfer::Transfer(const MessageLabel& label, ProcessGroup peers, bool has_parts)
    : label_{label.hash ^ current_program, label.text},
      peers_(peers.begin(), peers.end()),
      under_way_(*this, label, has_parts),
      times_(label.times) {
  counts_ = post_step(label_, peers);
  number_ = messages_begun();
  if (times_) begun_ = std::chrono::steady_clock::now();
}

Transfer::~Transfer() {
  if (finished_) return;
  failed = true;
  end_waiting();
}

void Transfer::finish() {
  if (finished_) return;
  begin_waiting(label_, number_);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = times_ ? Clock::now() : Clock::time_point();
  complete();
  if (times_) {
    const auto seconds = [end = Clock::now()](Clock::time_point from) {
      return std::chrono::duration<double>(end - from).count();
    };
    times_->waited.store(seconds(start), std::memory_order_relaxed);
    times_->under_way.store(seconds(begun_), std::memory_order_relaxed);
  }
  end_waiting();
  finished_ = true;
  under_way_.leave();
  if (then) then();  // if it throws, the message has been received
}

MessageTimes& times_of(std::string_view step) {
  static std::mutex mutex;
  static std::map<std::string, MessageTimes, std::less<>> all;
  const std::lock_guard lock(mutex);
  const auto at = all.find(step);
  return at != all.end() ? at->second : all[std::string(step)];
}

void keep_transfer(const void* key, TransferPtr transfer) {
  kept_transfers().push_back({key, std::move(transfer)});
}

TransferPtr take_transfer(const void* key) {
  std::vector<Kept>& kept = kept_transfers();
  const auto at = std::ranges::find(kept, key, &Kept::key);
  TransferPtr transfer = std::move(at->transfer);
  kept.erase(at);
  return transfer;
}

ProgramScope::ProgramScope(std::uint32_t program) : outer_(current_program) {
  current_program = program;
}
ProgramScope::~ProgramScope() { current_program = outer_; }

TransferScope::TransferScope() : kept_(kept_transfers().size()) {}
TransferScope::~TransferScope() { kept_transfers().resize(kept_); }

void progress_transfers() {
  if (kept_transfers().empty()) return;
  for (Transfer* transfer : under_way) transfer->progress();
}

}  // namespace shardax::runtime
