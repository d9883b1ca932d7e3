// runtime/message_times.h - durations of messages, for those who ask later.
#pragma once

#include <atomic>
#include <string_view>

namespace shardax::runtime {

// The seconds of the last message of a step that sends one. Negative: it has sent none.
struct MessageTimes {
  std::atomic<double> under_way = -1;  // from its start to its end
  std::atomic<double> waited = -1;     // of these, while the process did nothing else
};

// The times of the step with that text (MessageLabel). They live as long as the process.
MessageTimes& times_of(std::string_view step);

}  // namespace shardax::runtime
