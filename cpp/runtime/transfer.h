// runtime/transfer.h - messages under way, which end while their process computes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/small_vector.h"
#include "runtime/node_window.h"
#include "runtime/processes.h"

namespace shardax::runtime {

// A message from its first to its last byte. The constructor of a kind of message sends; finish()
// receives. The memory and the label that it is given stay where they are until then.
//
// All processes begin their messages in the same order. They may finish them in different orders,
// since they may compute different things meanwhile. Only reductions, which have several parts, are
// finished in order: beginning one finishes the one before.
class Transfer {
 public:
  virtual ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  void finish();  // once more: nothing
  // Gives the library time to move bytes.
  virtual void progress() {}

  std::function<void()> then;  // runs when all is received; holds memory for the message

 protected:
  // Throws where no message can be sent. `peers` may include this process.
  Transfer(const MessageLabel& label, ProcessGroup peers, bool has_parts);
  virtual void complete() = 0;

  ProcessGroup peers() const { return {peers_.data(), peers_.size()}; }

  StepLabel label_;
  PostCounts counts_;

 private:
  // Its place among the messages under way.
  class UnderWay {
   public:
    UnderWay(Transfer& transfer, const MessageLabel& label, bool has_parts);
    ~UnderWay();
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;
    void leave();
    bool has_parts() const { return has_parts_; }

   private:
    Transfer& transfer_;
    bool has_parts_;
  };

  SmallVector<int, 8> peers_;
  UnderWay under_way_;
  MessageTimes* times_;
  std::uint64_t number_ = 0;
  std::chrono::steady_clock::time_point begun_;
  bool finished_ = false;
};

// So many messages may be under way at a time; beginning another one finishes the oldest.
inline constexpr std::size_t most_under_way = 4;

// A transfer that is finished by another step of a program than the one that began it, by a key.
void keep_transfer(const void* key, TransferPtr transfer);
TransferPtr take_transfer(const void* key);

// Runs steps: where an exception ends it, the messages that the steps began and kept end with it.
class TransferScope {
 public:
  TransferScope();
  ~TransferScope();
  TransferScope(const TransferScope&) = delete;
  TransferScope& operator=(const TransferScope&) = delete;

 private:
  std::size_t kept_;
};

// The messages of this thread are those of a program with this hash: the same one in all processes.
class ProgramScope {
 public:
  explicit ProgramScope(std::uint32_t program);
  ~ProgramScope();
  ProgramScope(const ProgramScope&) = delete;
  ProgramScope& operator=(const ProgramScope&) = delete;

 private:
  std::uint32_t outer_;
};

// Between steps: messages that this thread has begun go on.
void progress_transfers();

}  // namespace shardax::runtime
