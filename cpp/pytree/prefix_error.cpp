// pytree/prefix_error.cpp - walks prefix and full tree together and words their differences.
#include "pytree/prefix_error.h"

#include "pytree/keys.h"
#include "pytree/level.h"

namespace shardax::pytree {
namespace {

bool same(const Ref& a, const Ref& b) {
  return check(PyObject_RichCompareBool(a.get(), b.get(), Py_EQ)) == 1;
}

bool contains(const std::vector<Ref>& keys, const Ref& wanted) {
  for (const Ref& key : keys) {
    if (same(key, wanted)) return true;
  }
  return false;
}

std::string key_texts(const std::vector<Ref>& keys) {
  std::string text;
  for (const Ref& key : keys) {
    if (!text.empty()) text += ' ';
    text += str(key_value(key.get()));
  }
  return text;
}

std::vector<Ref> without(const std::vector<Ref>& keys, const std::vector<Ref>& others) {
  std::vector<Ref> result;
  for (const Ref& key : keys) {
    if (!contains(others, key)) result.push_back(key);
  }
  return result;
}

// The result of difflib.ndiff for the lines of two texts, indented.
std::string difference(const std::string& a, const std::string& b) {
  const Ref difflib = Ref::checked(PyImport_ImportModule("difflib"));
  const auto lines = [](const std::string& text) {
    const Ref unicode = Ref::checked(PyUnicode_FromString(text.c_str()));
    return Ref::checked(PyUnicode_Splitlines(unicode.get(), 0));
  };
  const Ref diff = Ref::checked(
      PyObject_CallMethod(difflib.get(), "ndiff", "OO", lines(a).get(), lines(b).get()));
  const Ref all = Ref::checked(PySequence_List(diff.get()));
  std::string text;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all.get()); ++i) {
    text += "\n    " + text_of(PyList_GET_ITEM(all.get(), i));
  }
  return text;
}

class Comparison {
 public:
  Comparison(const std::string& name, PyObject* is_leaf, bool only_first)
      : name_(name), is_leaf_(is_leaf), only_first_(only_first) {}

  void visit(PyObject* prefix, PyObject* full) {
    if (only_first_ && !texts_.empty()) return;
    if (is_leaf_ != nullptr) {
      const Ref stop = Ref::checked(PyObject_CallOneArg(is_leaf_, prefix));
      if (check(PyObject_IsTrue(stop.get())) == 1) return;
    }
    Level a, b;
    if (!take_apart(prefix, true, a)) return;
    if (Py_TYPE(prefix) != Py_TYPE(full)) return different_types(prefix, full);
    take_apart(full, true, b);
    if (a.children.size() != b.children.size()) return different_sizes(prefix, a, b);
    const Ref have = a.metadata(), want = b.metadata();
    if (!same(have, want)) return different_metadata(prefix, have, want);
    const RecursionGuard guard(" in comparing a tree prefix");
    for (std::size_t i = 0; i < a.children.size(); ++i) {
      path_.push_back(a.keys[i]);
      visit(a.children[i].get(), b.children[i].get());
      path_.pop_back();
    }
  }

  std::vector<std::string> take() { return std::move(texts_); }

 private:
  void report(const std::string& what, const std::string& details) {
    texts_.push_back("pytree structure error: different " + what + " at key path\n    " + name_ +
                     key_string(pointers(path_)) + "\n" + details);
  }

  std::string at_the_path() const { return "At that key path, the prefix pytree " + name_; }
  static std::string same_type() {
    return "at the same key path the full pytree has a subtree of the same type but with ";
  }

  static std::string type_text(PyObject* value) {
    return repr(reinterpret_cast<PyObject*>(Py_TYPE(value)));
  }

  void different_types(PyObject* prefix, PyObject* full) {
    report("types", at_the_path() + " has a subtree of type\n    " + type_text(prefix) +
                        "\nbut at the same key path the full pytree has a subtree of different "
                        "type\n    " +
                        type_text(full) + ".");
  }

  void different_sizes(PyObject* prefix, const Level& a, const Level& b) {
    const std::string have = std::to_string(a.children.size());
    const std::string want = std::to_string(b.children.size());
    if (a.type.kind == Kind::tuple || a.type.kind == Kind::list) {
      const std::string type = a.type.kind == Kind::tuple ? "tuple" : "list";
      return report("lengths of " + type,
                    at_the_path() + " has a subtree of type " + type + " of length " + have +
                        ", but the full pytree has a subtree of the same type but of length " +
                        want + ".");
    }
    const std::vector<Ref> missing = without(b.keys, a.keys);
    std::vector<Ref> unmatched = without(a.keys, b.keys);
    unmatched.insert(unmatched.end(), missing.begin(), missing.end());
    report("numbers of pytree children",
           at_the_path() + " has a subtree of type\n    " + type_text(prefix) + "\nwith " + have +
               " child keys\n    " + key_texts(a.keys) + "\nbut " + same_type() + want +
               " child keys\n    " + key_texts(b.keys) +
               "\nso the symmetric difference on key sets is\n    " + key_texts(unmatched));
  }

  void different_metadata(PyObject* prefix, const Ref& have, const Ref& want) {
    const std::string a = str(have.get()), b = str(want.get());
    report("pytree metadata",
           at_the_path() + " has a subtree of type\n    " + type_text(prefix) +
               "\nwith metadata\n    " + a + "\nbut " + same_type() + "metadata\n    " + b +
               "\nso the diff in the metadata at these pytree nodes is" + difference(a, b));
  }

  const std::string& name_;
  PyObject* is_leaf_;
  bool only_first_;
  std::vector<Ref> path_;
  std::vector<std::string> texts_;
};

}  // namespace

std::vector<std::string> prefix_errors(PyObject* prefix, PyObject* full, const std::string& name,
                                       PyObject* is_leaf) {
  Comparison comparison(name, is_leaf, false);
  comparison.visit(prefix, full);
  return comparison.take();
}

std::string prefix_error(PyObject* prefix, PyObject* full, const std::string& name,
                         PyObject* is_leaf) {
  Comparison comparison(name, is_leaf, true);
  comparison.visit(prefix, full);
  std::vector<std::string> texts = comparison.take();
  return texts.empty() ? "" : texts.front();
}

}  // namespace shardax::pytree
