/// Does the live page follow its log, and does it answer nobody but the browser that was given its address?
#include <httplib.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/app_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class ServePage : public AppTest {
 protected:
  [[nodiscard]] std::string log() const { return file("study.sqlite"); }
  void sweep(const std::string& samples, const std::string& seed = "1") const {
    const Outcome outcome = hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", samples, "--seed",
                                       seed, "--log", log(), "--quiet"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  /// Starts the server; its address is split into what a client needs.
  void serve(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"serve", "--log", log()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    process_.emplace(arguments);
    address_ = process_->read_line();
    const std::string before = "http://127.0.0.1:", between = "/?token=";
    ASSERT_TRUE(address_.starts_with(before)) << address_;
    const std::size_t slash = address_.find(between);
    ASSERT_NE(slash, std::string::npos);
    port_ = std::stoi(address_.substr(before.size(), slash - before.size()));
    token_ = address_.substr(slash + between.size());
  }
  [[nodiscard]] httplib::Result get(const std::string& path, const httplib::Headers& headers = {}) const {
    httplib::Client client("127.0.0.1", port_);
    client.set_read_timeout(5);
    return client.Get((path + "?token=" + token_).c_str(), headers);
  }
  /// Listens until a state satisfies `enough`, or for half a minute.
  template <class Enough>
  [[nodiscard]] Json listen(const Enough& enough) const {
    httplib::Client client("127.0.0.1", port_);
    client.set_read_timeout(5);
    Json found;
    std::string text;
    const auto begun = std::chrono::steady_clock::now();
    static_cast<void>(client.Get(("/events?token=" + token_).c_str(), [&](const char* data, std::size_t size) {
      text.append(data, size);
      for (std::size_t end = text.find("\n\n"); end != std::string::npos; end = text.find("\n\n")) {
        const std::size_t from = text.find("data: ");
        const Json state = Json::parse(text.substr(from + 6, end - from - 6));
        text.erase(0, end + 2);
        if (enough(state)) found = state;
      }
      return found.is_null() && std::chrono::steady_clock::now() - begun < std::chrono::seconds(30);
    }));
    return found;
  }

  std::optional<Process> process_;
  std::string address_, token_;
  int port_ = 0;
};

TEST_F(ServePage, ShowsTheReportAndEndsAtCtrlC) {
  sweep("50");
  serve();
  EXPECT_EQ(token_.size(), 32U);
  const httplib::Result page = get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_THAT(page->body, HasSubstr("data-figure=\"pareto\""));
  EXPECT_THAT(page->body, HasSubstr("connect-src 'self'"));
  EXPECT_EQ(page->get_header_value("Cache-Control"), "no-store");
  EXPECT_EQ(page->get_header_value("Referrer-Policy"), "no-referrer");
  const Json update = Json::parse(get("/update")->body);
  EXPECT_EQ(update.at("study").at("schema"), "hindsight.report");
  EXPECT_THAT(update.at("main").get<std::string>(), HasSubstr("id=\"answer\""));
  process_->send(SIGINT);
  EXPECT_EQ(process_->wait().exit_code, 0);
}

TEST_F(ServePage, AnswersNobodyElse) {
  sweep("20");
  serve();
  httplib::Client client("127.0.0.1", port_);
  for (const std::string path : {"/", "/update", "/events", "/?token=", "/?token=00000000000000000000000000000000"}) {
    const httplib::Result answer = client.Get(path.c_str());
    ASSERT_TRUE(answer) << path;
    EXPECT_EQ(answer->status, 403) << path;
    EXPECT_EQ(answer->body.find("study"), std::string::npos) << path;
  }
  EXPECT_EQ(get("/", {{"Host", "study.example"}})->status, 403) << "a foreign name that leads here";
  EXPECT_EQ(get("/", {{"Origin", "http://study.example"}})->status, 403);
  EXPECT_EQ(get("/", {{"Origin", "null"}})->status, 403) << "a page of a file";
  EXPECT_EQ(get("/update", {{"Sec-Fetch-Site", "cross-site"}})->status, 403);
  EXPECT_EQ(get("/", {{"Host", "localhost:" + std::to_string(port_)}})->status, 200);
  EXPECT_EQ(get("/", {{"Sec-Fetch-Site", "none"}})->status, 200) << "an address that was typed";
  EXPECT_EQ(client.Post(("/?token=" + token_).c_str(), "x", "text/plain")->status, 405);
  EXPECT_EQ(client.Delete(("/?token=" + token_).c_str())->status, 405);
  EXPECT_EQ(get("/study.sqlite")->status, 404);
  EXPECT_EQ(get("/../../etc/passwd")->status, 404);
}

TEST_F(ServePage, ListensOnThisMachineAlone) {
  sweep("20");
  serve();
  // Another address of the loopback network stands for any other interface.
  httplib::Client other("127.0.0.2", port_);
  EXPECT_FALSE(other.Get("/"));
}

TEST_F(ServePage, FollowsALogThatGrows) {
  sweep("50");
  const std::string before = hash_of(log());
  serve();
  const Json first = listen([](const Json&) { return true; });
  ASSERT_EQ(first.at("version"), 1);
  EXPECT_EQ(first.at("problem"), "");
  EXPECT_EQ(before, hash_of(log())) << "serving writes nothing";
  const auto rows = first.at("rows").get<std::int64_t>();
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    sweep("400", "2");
  });
  const Json later = listen([&](const Json& state) { return state.at("rows") > rows && state.at("version") > 1; });
  writer.join();
  ASSERT_FALSE(later.is_null()) << "no newer report came";
  const httplib::Result update = get("/update");
  EXPECT_GE(std::stoi(update->get_header_value("X-Hindsight-Version")), 2);
  EXPECT_EQ(get("/")->body.find("data-version=\"1\""), std::string::npos);
}

TEST_F(ServePage, SaysThatTheLogIsGoneAndGoesOnWhenItIsBack) {
  sweep("20");
  serve();
  std::filesystem::rename(log(), file("away.sqlite"));
  const Json gone = listen([](const Json& state) { return state.at("problem") != ""; });
  ASSERT_FALSE(gone.is_null());
  EXPECT_THAT(gone.at("problem").get<std::string>(), HasSubstr("no such log"));
  EXPECT_EQ(get("/")->status, 200) << "the last report stays";
  std::filesystem::rename(file("away.sqlite"), log());
  EXPECT_FALSE(listen([](const Json& state) { return state.at("problem") == ""; }).is_null());
}

TEST_F(ServePage, APageTooManyIsRefusedNotKeptWaiting) {
  sweep("20");
  serve();
  std::vector<std::thread> pages;
  std::atomic<bool> enough{false};
  std::atomic<int> open{0};
  for (int i = 0; i < 8; ++i) {
    pages.emplace_back([&] {
      httplib::Client client("127.0.0.1", port_);
      bool first = true;
      static_cast<void>(client.Get(("/events?token=" + token_).c_str(), [&](const char*, std::size_t) {
        if (std::exchange(first, false)) ++open;
        return !enough;
      }));
    });
  }
  while (open < 8) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const httplib::Result ninth = get("/events"), page_itself = get("/");
  enough = true;
  for (std::thread& page : pages) page.join();
  ASSERT_TRUE(ninth) << "no answer";
  EXPECT_EQ(ninth->status, 503);
  EXPECT_THAT(ninth->body, HasSubstr("Close one"));
  ASSERT_TRUE(page_itself);
  EXPECT_EQ(page_itself->status, 200);
}

TEST_F(ServePage, RefusesWhatItCannotServe) {
  expect_one_line_error(hindsight({"serve", "--log", log()}), 2, "no such log");
  write("broken.sqlite", "this is no log");
  expect_one_line_error(hindsight({"serve", "--log", file("broken.sqlite")}), 4, "broken.sqlite");
  sweep("20");
  serve();
  Process second({"serve", "--log", log(), "--port", std::to_string(port_)});
  ASSERT_EQ(second.read_line(), "") << "it serves elsewhere";
  expect_one_line_error(second.wait(), 1, "leave --port out");
  expect_one_line_error(hindsight({"serve", "--log", log(), "--space", "tiny"}), 2, "excludes");
  expect_one_line_error(hindsight({"serve", "--port", "8080"}), 2, "requires --log");
}

}  // namespace
}  // namespace hindsight::app::test
