// ir/text/pretty_printer.h - text with possible line breaks, laid out to a width.
//
// After P. Wadler, "A prettier printer" (2003). A group is put on one line if it fits, else all of
// its own breaks become new lines.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace shardax {

class PrettyPrinter {
 public:
  PrettyPrinter() = default;
  PrettyPrinter(std::string text) : text_(std::move(text)) {}  // NOLINT: text is a document
  PrettyPrinter(const char* text) : text_(text) {}             // NOLINT

  // A space, or `flat`, on one line; a new line where the group is broken.
  static PrettyPrinter line(std::string flat = " ");
  static PrettyPrinter group(std::vector<PrettyPrinter> parts);
  static PrettyPrinter nest(int indent, std::vector<PrettyPrinter> parts);
  static PrettyPrinter chain(std::vector<PrettyPrinter> parts);
  // Text with a note, shown behind the line that it ends up in.
  static PrettyPrinter noted(std::string text, std::string note);

  std::string layout(int width) const;

 private:
  enum class Kind { text, line, group, nest, chain };
  struct Line {
    std::string text;
    std::optional<std::string> note = {};
  };
  int flat_width() const;
  void print(std::vector<Line>& out, int indent, bool flat, int width) const;

  Kind kind_ = Kind::text;
  std::string text_;
  std::optional<std::string> note_;
  int indent_ = 0;
  std::vector<PrettyPrinter> parts_;
};

}  // namespace shardax
