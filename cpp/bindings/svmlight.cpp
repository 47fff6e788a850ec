#include "kernelrank/svmlight.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "bindings.hpp"

namespace {

using kernelrank::Column;
using kernelrank::FormatError;
using kernelrank::IndexBase;
using kernelrank::SvmlightReader;

IndexBase base_of(std::optional<bool> zero_based) {
  if (!zero_based) return IndexBase::automatic;
  return *zero_based ? IndexBase::zero : IndexBase::one;
}

std::string_view view_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

template <class Number>
void construct(SvmlightReader<Number>* self, std::optional<bool> zero_based, std::optional<std::int64_t> n_features) {
  require(!n_features || *n_features >= 0, "n_features must not be negative");
  new (self) SvmlightReader<Number>(base_of(zero_based), n_features);
}

template <class Number>
void feed(SvmlightReader<Number>& self, const nb::bytes& block, int n_threads) {
  require(n_threads >= 1, "n_threads must be positive");
  SignalCancellation cancel;
  cancel.guard([&, text = view_of(block)] { self.feed(text, n_threads, cancel); });
}

// Transfers the memory of a column to NumPy.
template <class T>
nb::object as_array(Column<T>& column) {
  const std::size_t n = column.size();
  auto memory = column.release();
  const nb::capsule owner(memory.get(), [](void* pointer) noexcept { std::free(pointer); });
  const nb::object array = nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(memory.release(), {n}, owner));
  // Where long and long long are the same, the column may have the type that NumPy does not call int64.
  if constexpr (std::is_same_v<T, std::int64_t>) return array.attr("view")("int64");
  return array;
}

template <class Index, class Number>
nb::tuple matrix_parts(SvmlightReader<Number>& reader) {
  Column<std::int64_t>& starts = reader.row_starts();
  if constexpr (sizeof(Index) == 8) {
    return nb::make_tuple(as_array(reader.values()), as_array(reader.template indices<Index>()), as_array(starts));
  } else {
    Column<Index> narrow;
    std::transform(starts.data(), starts.data() + starts.size(), narrow.extend(starts.size()),
                   [](std::int64_t start) { return static_cast<Index>(start); });
    starts = {};
    return nb::make_tuple(as_array(reader.values()), as_array(reader.template indices<Index>()), as_array(narrow));
  }
}

nb::object decode(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

template <class TextOf>
nb::list decode_all(std::size_t n, TextOf&& text_of) {
  nb::list all;
  for (std::size_t k = 0; k < n; ++k) {
    if (k % 65536 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
    all.append(decode(text_of(k)));
  }
  return all;
}

template <class Number>
nb::tuple finish(SvmlightReader<Number>& self) {
  SignalCancellation cancel;
  cancel.guard([&] { self.finish(cancel); });
  const std::size_t n_rows = self.n_rows();
  nb::object queries = nb::none(), query_texts = nb::none(), comments = nb::none();
  if (self.has_queries()) {
    auto& column = self.queries();
    queries = as_array(column.numbers());
    if (column.are_texts()) {
      const auto& texts = column.texts();
      query_texts = decode_all(texts.size(), [&](std::size_t k) { return std::string_view(texts[k]); });
    }
  }
  if (!self.comments().empty()) comments = decode_all(n_rows, [&](std::size_t row) { return self.comments()[row]; });
  const nb::tuple parts = self.has_wide_indices() ? matrix_parts<std::int64_t>(self) : matrix_parts<std::int32_t>(self);
  return nb::make_tuple(parts, self.n_features(), as_array(self.targets()), queries, query_texts, comments);
}

template <class Number>
void bind_reader(nb::module_& module, const char* name) {
  using namespace nb::literals;
  nb::class_<SvmlightReader<Number>>(module, name, "Rows of an svmlight file, parsed block by block.")
      .def("__init__", &construct<Number>, "zero_based"_a.none(), "n_features"_a.none())
      .def("feed", &feed<Number>, "block"_a, "n_threads"_a)
      .def("finish", &finish<Number>);
}

std::vector<std::string_view> views_of(const std::optional<nb::list>& texts) {
  std::vector<std::string_view> views;
  if (texts) {
    for (const nb::handle text : *texts) views.push_back(view_of(nb::cast<nb::bytes>(text)));
  }
  return views;
}

template <class Number>
nb::bytes format(const Vector<std::int64_t>& starts, const Vector<std::int64_t>& indices, const Vector<Number>& values,
                 const Vector<double>& targets, const std::optional<nb::list>& queries,
                 const std::optional<nb::list>& comments, std::int64_t first_index) {
  const std::size_t m = targets.shape(0);
  const auto query_views = views_of(queries), comment_views = views_of(comments);
  require(starts.shape(0) == m + 1, "starts must have one more element than there are rows");
  require((!queries || query_views.size() == m) && (!comments || comment_views.size() == m),
          "queries and comments must have one element per row");
  const auto span = as_span(starts);
  require(span.front() >= 0 && std::is_sorted(span.begin(), span.end()), "starts must be sorted");
  const auto stored = static_cast<std::size_t>(span.back());
  require(indices.shape(0) >= stored && values.shape(0) >= stored,
          "indices and values are shorter than starts require");
  std::string text;
  {
    const nb::gil_scoped_release release;
    text = kernelrank::format_svmlight<Number>(
        {as_span(targets), span, as_span(indices), as_span(values), query_views, comment_views}, first_index);
  }
  return nb::bytes(text.data(), text.size());
}

}  // namespace

void bind_svmlight(nb::module_& module) {
  using namespace nb::literals;
  bind_reader<float>(module, "SvmlightReader32");
  bind_reader<double>(module, "SvmlightReader64");
  const auto def = [&](auto function) {
    module.def("format_svmlight", function, "starts"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(),
               "targets"_a.noconvert(), "queries"_a.none(), "comments"_a.none(), "first_index"_a,
               "Return the lines of an svmlight file as bytes.");
  };
  def(&format<float>);
  def(&format<double>);

  // The arguments are the line, the problem, and the offending bytes.
  static PyObject* error = PyErr_NewException("kernelrank._core.FormatError", PyExc_ValueError, nullptr);
  if (error == nullptr) throw nb::python_error();
  module.attr("FormatError") = nb::borrow(error);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const FormatError& problem) {
      const auto& text = problem.text();
      const nb::object arguments = nb::make_tuple(problem.line(), problem.what(), nb::bytes(text.data(), text.size()));
      PyErr_SetObject(error, arguments.ptr());
    }
  });
}
