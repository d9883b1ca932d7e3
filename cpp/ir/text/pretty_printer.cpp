// ir/text/pretty_printer.cpp - layout of documents.
#include "ir/text/pretty_printer.h"

#include <algorithm>

#include "base/index.h"
#include "base/stack.h"

namespace shardax {

PrettyPrinter PrettyPrinter::line(std::string flat) {
  PrettyPrinter d(std::move(flat));
  d.kind_ = Kind::line;
  return d;
}
PrettyPrinter PrettyPrinter::group(std::vector<PrettyPrinter> parts) {
  PrettyPrinter d = chain(std::move(parts));
  d.kind_ = Kind::group;
  return d;
}
PrettyPrinter PrettyPrinter::nest(int indent, std::vector<PrettyPrinter> parts) {
  PrettyPrinter d = chain(std::move(parts));
  d.kind_ = Kind::nest;
  d.indent_ = indent;
  return d;
}
PrettyPrinter PrettyPrinter::chain(std::vector<PrettyPrinter> parts) {
  PrettyPrinter d;
  d.kind_ = Kind::chain;
  d.parts_ = std::move(parts);
  return d;
}
PrettyPrinter PrettyPrinter::noted(std::string text, std::string note) {
  PrettyPrinter d(std::move(text));
  d.note_ = std::move(note);
  return d;
}

int PrettyPrinter::flat_width() const {
  int width = static_cast<int>(text_.size());
  for (const PrettyPrinter& part : parts_) width += part.flat_width();
  return width;
}

std::string PrettyPrinter::layout(int width) const {
  std::vector<Line> lines(1);
  print(lines, 0, false, width);
  std::size_t widest = 0;  // of the lines with notes, which stand in one column
  for (const Line& line : lines) {
    if (line.note) widest = std::max(widest, line.text.size());
  }
  std::string out;
  for (const Line& line : lines) {
    if (!out.empty()) out += '\n';
    out += line.text;
    if (line.note) out += std::string(widest - line.text.size(), ' ') + " # " + *line.note;
  }
  return out;
}

void PrettyPrinter::print(std::vector<Line>& out, int indent, bool flat, int width) const {
  check_stack("printing a program within programs");
  Line& current = out.back();
  switch (kind_) {
    case Kind::text:
      current.text += text_;
      if (note_) {
        const bool more = current.note && !current.note->empty() && !note_->empty();
        current.note = current.note.value_or("") + (more ? ", " : "") + *note_;
      }
      return;
    case Kind::line:
      if (flat) {
        current.text += text_;
      } else {
        out.push_back({std::string(index(indent), ' ')});
      }
      return;
    case Kind::group:
      flat = flat || static_cast<int>(current.text.size()) + flat_width() <= width;
      break;
    case Kind::nest: indent += indent_; break;
    case Kind::chain: break;
  }
  for (const PrettyPrinter& part : parts_) part.print(out, indent, flat, width);
}

}  // namespace shardax
