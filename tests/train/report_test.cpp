#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <thalweg/base/error.h>
#include <thalweg/train/report.h>

#include "train/report_sample.h"

namespace thalweg::train {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

json figures_of(const std::string& page) {
  const std::string open = "id=\"thalweg-run\">";
  const size_t begin = page.find(open) + open.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

std::string error_of(const ReportData& data) {
  try {
    render_report(data);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    return error.what();
  }
  return "no error";
}

TEST(Report, ShowsTheFinalFiguresUnderTheirNames) {
  const std::string page = render_report(sample_report());
  EXPECT_THAT(page, HasSubstr("<dd id=\"final-accuracy\" data-value=\"0.8812\">0.8812</dd>"));
  EXPECT_THAT(page, HasSubstr("<dd id=\"final-loss\" data-value=\"0.3254\">0.3254</dd>"));
  EXPECT_THAT(page, HasSubstr("<dd id=\"run-parameters\" data-value=\"55050\">55,050</dd>"));
}

TEST(Report, HoldsEveryFigureAsJson) {
  const ReportData data = sample_report();
  const json run = figures_of(render_report(data));
  EXPECT_EQ(run["final"]["accuracy"], 0.8812);
  EXPECT_EQ(run["seed"], 18446744073709551615U);
  EXPECT_EQ(run["epochs"].size(), 10U);
  EXPECT_EQ(run["epochs"][9]["test"]["loss"], data.epochs[9].test[0].value);
  EXPECT_EQ(run["confusion"]["counts"].size(), 100U);
  EXPECT_EQ(run["phases"][2]["name"], "backward");
  EXPECT_EQ(run["net"]["edges"].size(), 6U);
  EXPECT_EQ(run["settings"]["optimizer.momentum"], "0.9");
}

TEST(Report, CondensesManyStepsToRunsOfEqualLength) {
  ReportData data;
  for (int64_t step = 1; step <= 3001; ++step)
    data.steps.push_back({step, static_cast<double>(step), 0.5});
  const json steps = figures_of(render_report(data))["steps"];
  ASSERT_EQ(steps["loss"].size(), 1001U);  // three a run, one left over
  EXPECT_EQ(steps["step"][0], 3);
  EXPECT_EQ(steps["loss"][0], 2.0);
  EXPECT_EQ(steps["low"][0], 1.0);
  EXPECT_EQ(steps["high"][0], 3.0);
  EXPECT_EQ(steps["loss"][1000], 3001.0);
}

TEST(Report, TakesItsCurvesFromMetrics) {
  ReportData data;
  add_curves(data, {{1, 1, "step", {{"loss", 2.5}, {"learning_rate", 0.1}}},
                    {2, 1, "step", {{"loss", 2.0}}},
                    {2, 1, "train", {{"loss", 2.25}}},
                    {2, 1, "test", {{"loss", 2.75}, {"accuracy", 0.5}}},
                    {4, 2, "test", {{"accuracy", 0.75}}}});
  const json run = figures_of(render_report(data));
  EXPECT_EQ(run["steps"]["loss"], json({2.5, 2.0}));
  EXPECT_EQ(run["steps"]["learning_rate"], json({0.1, 0.0}));
  ASSERT_EQ(run["epochs"].size(), 2U);
  EXPECT_EQ(run["epochs"][0]["train"]["loss"], 2.25);
  EXPECT_EQ(run["epochs"][0]["test"]["accuracy"], 0.5);
  EXPECT_EQ(run["epochs"][1]["step"], 4);
}

TEST(Report, WritesANotFiniteLossAsNull) {
  ReportData data;
  data.steps.push_back({1, std::nan(""), 0.1});
  EXPECT_TRUE(figures_of(render_report(data))["steps"]["loss"][0].is_null());
}

TEST(Report, EscapesEveryTextOfAUser) {
  const std::string evil = "</script><img src=x onerror=\"alert('1')\">&";
  ReportData data;
  data.title = data.status = data.started = data.command = data.version = data.device = evil;
  data.final_figures = {{evil, 1}};
  data.epochs = {{.epoch = 1, .step = 1, .seconds = 1, .train = {{evil, 1}}, .test = {{evil, 2}}}};
  data.confusion = {{evil, "b"}, {1, 2, 3, 4}};
  data.worst = {{.height = 1, .width = 1, .pixels = {0}, .truth = evil, .predicted = evil}};
  data.net = {{{evil, evil, evil, evil}, {"b", evil, evil, evil}}, {{evil, "b", evil}}};
  data.settings = {{evil, evil}};
  data.phases = {{evil, 1, 1}};
  const std::string page = render_report(data);
  EXPECT_THAT(page, Not(HasSubstr("<img src=x")));
  EXPECT_THAT(page, Not(HasSubstr("onerror=\"")));
  EXPECT_EQ(figures_of(page)["title"], evil);
}

TEST(Report, RepairsTextThatIsNotUtf8) {
  ReportData data;
  data.title = "caf\xe9 \xe2\x82\xac\x01";
  const std::string page = render_report(data);
  EXPECT_THAT(page, HasSubstr("<h1 id=\"title\">caf\xef\xbf\xbd \xe2\x82\xac</h1>"));
}

TEST(Report, NeedsNothingFromTheNetwork) {
  const std::string page = render_report(sample_report());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* reference : {"src=\"http", "href=\"http", "@import", "url(http", "fetch("})
    EXPECT_THAT(page, Not(HasSubstr(reference)));
}

TEST(Report, LeavesOutWhatIsEmpty) {
  const std::string page = render_report({.title = "bare"});
  EXPECT_THAT(page, HasSubstr("<h1 id=\"title\">bare</h1>"));
  EXPECT_THAT(page, Not(HasSubstr("<section")));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(Report, DrawsALargeConfusionMatrixAsAPicture) {
  ReportData data;
  for (int i = 0; i < 33; ++i) data.confusion.classes.push_back("class " + std::to_string(i));
  data.confusion.counts.assign(33 * 33, 0);
  data.confusion.counts[5] = 12;
  const std::string page = render_report(data);
  EXPECT_THAT(page, HasSubstr("<img id=\"confusion-matrix\""));
  EXPECT_THAT(page, HasSubstr("<b>class 0</b> taken for <b>class 5</b>"));
}

TEST(Report, RejectsAConfusionMatrixThatIsNotSquare) {
  EXPECT_EQ(error_of({.confusion = {{"a", "b"}, {1, 2, 3}}}),
            "write_report: the confusion matrix has 3 counts for 2 classes; it needs [2, 2]");
  EXPECT_THAT(error_of({.confusion = {{"a", "b"}, {1, 2, -3, 4}}}), HasSubstr("-3 at [1, 0]"));
}

TEST(Report, RejectsPixelsThatDoNotFillTheirImage) {
  EXPECT_THAT(error_of({.worst = {{.height = 2, .width = 2, .pixels = {1, 2, 3}}}}),
              HasSubstr("3 bytes do not fill an image of [2, 2, 1]"));
}

}  // namespace
}  // namespace thalweg::train
