#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/fail.h"
#include "train/png.h"
#include "train/report_html.h"
#include "train/report_sections.h"

namespace thalweg::train {
namespace {

constexpr size_t kMaxTable = 32;
constexpr size_t kMaxMistakes = 8;

// The matrix with its sums.
struct Matrix {
  const ReportConfusion& data;
  size_t n;
  std::vector<int64_t> truths, answers;  // [n] sums of rows and columns

  int64_t at(size_t truth, size_t answer) const { return data.counts[truth * n + answer]; }
  double share(size_t truth, size_t answer) const {
    return truths[truth] == 0
               ? 0
               : static_cast<double>(at(truth, answer)) / static_cast<double>(truths[truth]);
  }
};

Matrix checked(const ReportConfusion& data) {
  const size_t n = data.classes.size();
  if (data.counts.size() != n * n)
    fail_invalid(
        "write_report: the confusion matrix has {} counts for {} classes; it needs [{}, {}]",
        data.counts.size(), n, n, n);
  Matrix matrix{data, n, std::vector<int64_t>(n, 0), std::vector<int64_t>(n, 0)};
  for (size_t i = 0; i < n * n; ++i) {
    if (data.counts[i] < 0)
      fail_invalid("write_report: the confusion matrix has a negative count; {} at [{}, {}]",
                   data.counts[i], i / n, i % n);
    matrix.truths[i / n] += data.counts[i];
    matrix.answers[i % n] += data.counts[i];
  }
  return matrix;
}

std::string ratio(int64_t part, int64_t whole) {
  return whole == 0 ? "-" : percent(static_cast<double>(part) / static_cast<double>(whole));
}

// --s is the strength of the cell's colour. Mistakes are few: their square root makes them seen.
std::string cell(const Matrix& matrix, size_t truth, size_t answer) {
  const double share = matrix.share(truth, answer);
  const double strength = truth == answer ? share : std::sqrt(share);
  const char* kind = truth == answer ? "right" : "wrong";
  const int64_t times = matrix.at(truth, answer);
  return fmt::format(
      "<td class=\"{}{}\" style=\"--s:{:.3f}\" title=\"{} taken for {}: {}\">{}</td>", kind,
      strength > 0.55 ? " strong" : "", strength, escape(matrix.data.classes[truth]),
      escape(matrix.data.classes[answer]), count(times), times == 0 ? "<i>0</i>" : count(times));
}

std::string row(const Matrix& matrix, size_t truth) {
  std::string html =
      fmt::format("<tr><th scope=\"row\">{}</th>", escape(matrix.data.classes[truth]));
  for (size_t answer = 0; answer < matrix.n; ++answer) html += cell(matrix, truth, answer);
  return html + fmt::format("<td class=\"rate\">{}</td></tr>\n",
                            ratio(matrix.at(truth, truth), matrix.truths[truth]));
}

// The names of the columns stand aslant, at 45 degrees: a letter takes about six pixels of height.
size_t head_height(const std::vector<std::string>& classes) {
  size_t longest = 6;  // "recall"
  for (const std::string& name : classes) longest = std::max(longest, name.size());
  return std::min<size_t>(28 + 6 * longest, 240);
}

std::string table(const Matrix& matrix) {
  std::string html =
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Confusion matrix\"><table "
      "id=\"confusion-matrix\" class=\"confusion\" style=\"--head:" +
      fmt::format("{}px", head_height(matrix.data.classes)) +
      "\"><caption>Rows: true class. Columns: the net's answer.</caption><thead><tr><td></td>";
  for (const std::string& name : matrix.data.classes)
    html += fmt::format("<th scope=\"col\"><span>{}</span></th>", escape(name));
  html += "<th scope=\"col\"><span>recall</span></th></tr></thead><tbody>\n";
  for (size_t truth = 0; truth < matrix.n; ++truth) html += row(matrix, truth);
  html += "</tbody><tfoot><tr><th scope=\"row\">precision</th>";
  for (size_t answer = 0; answer < matrix.n; ++answer)
    html += fmt::format("<td class=\"rate\">{}</td>",
                        ratio(matrix.at(answer, answer), matrix.answers[answer]));
  return html + "<td></td></tr></tfoot></table></div>\n";
}

// A pixel a cell: blue on the diagonal, orange beside it, paler where there are fewer.
std::string picture(const Matrix& matrix) {
  constexpr std::array<double, 3> kRight{31, 95, 153}, kWrong{201, 88, 32};
  std::vector<uint8_t> pixels;
  pixels.reserve(matrix.n * matrix.n * 3);
  for (size_t i = 0; i < matrix.n * matrix.n; ++i) {
    const size_t truth = i / matrix.n, answer = i % matrix.n;
    const double share = matrix.share(truth, answer);
    const double strength = truth == answer ? share : std::sqrt(share);
    for (const double channel : truth == answer ? kRight : kWrong)
      pixels.push_back(static_cast<uint8_t>(std::lround(255 + strength * (channel - 255))));
  }
  const auto side = static_cast<int64_t>(matrix.n);
  return fmt::format(
      "<figure><img id=\"confusion-matrix\" class=\"confusion\" width=\"{0}\" height=\"{0}\" "
      "src=\"data:image/png;base64,{1}\" alt=\"Confusion matrix of {0} classes\"><figcaption>Rows: "
      "true class, from the top. Columns: the net's answer.</figcaption></figure>\n",
      matrix.n, base64(encode_png(pixels, side, side, 3)));
}

std::string mistakes(const Matrix& matrix) {
  std::vector<size_t> cells;
  for (size_t i = 0; i < matrix.n * matrix.n; ++i)
    if (i / matrix.n != i % matrix.n && matrix.data.counts[i] > 0) cells.push_back(i);
  const size_t shown = std::min(cells.size(), kMaxMistakes);
  // Equal counts keep the order of the classes, so that a page does not change from run to run.
  std::partial_sort(cells.begin(), cells.begin() + static_cast<int64_t>(shown), cells.end(),
                    [&](size_t a, size_t b) {
                      const auto& counts = matrix.data.counts;
                      return counts[a] != counts[b] ? counts[a] > counts[b] : a < b;
                    });
  if (shown == 0) return {};
  std::string html = "<div><h3>Most frequent mistakes</h3>\n<ol class=\"mistakes\">\n";
  for (size_t k = 0; k < shown; ++k) {
    const size_t truth = cells[k] / matrix.n, answer = cells[k] % matrix.n;
    html += fmt::format("<li><b>{}</b> taken for <b>{}</b> <span>{} of {}, {}</span></li>\n",
                        escape(matrix.data.classes[truth]), escape(matrix.data.classes[answer]),
                        count(matrix.at(truth, answer)), count(matrix.truths[truth]),
                        percent(matrix.share(truth, answer)));
  }
  return html + "</ol></div>\n";
}

}  // namespace

std::string confusion_html(const ReportConfusion& confusion) {
  const Matrix matrix = checked(confusion);
  if (matrix.n == 0) return {};
  return "<div class=\"beside\">\n" + (matrix.n <= kMaxTable ? table(matrix) : picture(matrix)) +
         mistakes(matrix) + "</div>\n";
}

}  // namespace thalweg::train
