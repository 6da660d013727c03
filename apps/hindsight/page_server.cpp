/// Answers a browser: who may ask is decided before anything else.
#include "page_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/random.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"

namespace hindsight::app {
namespace {

constexpr const char* kAddress = "127.0.0.1";
/// Pages that may stay open at once; each holds a thread. [chosen] more than one person has tabs
constexpr int kMostListeners = 8;
/// For short answers beside them. [chosen]
constexpr std::size_t kShortAnswers = 4;
/// Bytes of a request's body: there is none to send. [chosen]
constexpr std::size_t kMostBody = 1024;
constexpr time_t kPatienceSeconds = 5;           // [chosen] for a request to come whole
constexpr std::chrono::milliseconds kWait{500};  // [chosen] how long a stream notices nothing of an end
/// A stream says at least so often that it lives. [chosen] below a minute, when proxies give up
constexpr int kSilentWaits = 20;

/// 128 random bits as hexadecimal digits.
std::string new_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw Error(ErrorKind::failure, fmt::format("serve: the operating system gave no random token: {}",
                                                std::generic_category().message(errno)));
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

/// In a time that does not tell how much of them is the same.
bool same(const std::string& a, const std::string& b) {
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return different == 0;
}

void refuse(httplib::Response& response, int status, const std::string& why) {
  response.status = status;
  response.set_content(why + "\n", "text/plain; charset=utf-8");
}

}  // namespace

struct PageServer::Server {
  Server(LiveStudy& of, int asked_port) : study(of), token(new_token()) {
    http.set_payload_max_length(kMostBody);
    http.set_read_timeout(kPatienceSeconds);
    http.set_write_timeout(kPatienceSeconds);
    http.set_keep_alive_timeout(1);
    http.new_task_queue = [] { return new httplib::ThreadPool(kMostListeners + kShortAnswers); };
    http.set_socket_options([](socket_t socket) {  // SO_REUSEADDR alone: a port in use is refused, not shared
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    http.set_default_headers({{"Cache-Control", "no-store"},
                              {"Content-Security-Policy", "frame-ancestors 'none'"},
                              {"Cross-Origin-Opener-Policy", "same-origin"},
                              {"Cross-Origin-Resource-Policy", "same-origin"},
                              {"Referrer-Policy", "no-referrer"},
                              {"X-Content-Type-Options", "nosniff"}});
    http.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      return allowed(request, response) ? httplib::Server::HandlerResponse::Unhandled
                                        : httplib::Server::HandlerResponse::Handled;
    });
    http.Get("/", [this](const httplib::Request&, httplib::Response& response) { send_page(response); });
    http.Get("/update", [this](const httplib::Request&, httplib::Response& response) { send_update(response); });
    http.Get("/events", [this](const httplib::Request&, httplib::Response& response) { send_events(response); });
    http.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty()) refuse(response, response.status, "Nothing is here. The page is at /");
    });
    bind(asked_port);
  }

  void bind(int asked_port) {
    if (asked_port == 0) {
      port = http.bind_to_any_port(kAddress);
    } else if (http.bind_to_port(kAddress, asked_port)) {
      port = asked_port;
    }
    if (port > 0) return;
    const std::string reason = std::generic_category().message(errno);
    throw Error(ErrorKind::failure,
                fmt::format("--port {}: cannot listen on {}: {}. Name another one, or leave --port out for a free one",
                            asked_port, kAddress, reason));
  }

  /// Is it a browser of this machine that was given the address, and no page of somebody else's?
  bool allowed(const httplib::Request& request, httplib::Response& response) const {
    const std::string here = fmt::format("{}:{}", kAddress, port), by_name = fmt::format("localhost:{}", port);
    const std::string host = request.get_header_value("Host");
    if (host != here && host != by_name) {  // a name of somebody else's that leads here
      refuse(response, 403, fmt::format("This server is http://{}, and serves no other host", here));
      return false;
    }
    const std::string origin = request.get_header_value("Origin");
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    const bool is_foreign_origin = !origin.empty() && origin != "http://" + here && origin != "http://" + by_name;
    if (is_foreign_origin || site == "cross-site" || site == "same-site") {
      refuse(response, 403, "Pages of other origins get nothing from this server");
      return false;
    }
    if (request.method != "GET" && request.method != "HEAD") {
      response.set_header("Allow", "GET, HEAD");
      refuse(response, 405, "This server only reads");
      return false;
    }
    if (request.get_param_value_count("token") != 1 || !same(request.get_param_value("token"), token)) {
      refuse(response, 403, "The address needs the token that 'hindsight serve' printed: /?token=...");
      return false;
    }
    return true;
  }

  void send_page(httplib::Response& response) const {
    response.set_content(study.page()->html, "text/html; charset=utf-8");
  }
  void send_update(httplib::Response& response) const {
    const std::shared_ptr<const LivePage> page = study.page();
    response.set_header("X-Hindsight-Version", std::to_string(page->version));
    response.set_content(page->update_json, "application/json");
  }

  void send_events(httplib::Response& response) {
    if (listeners.fetch_add(1) >= kMostListeners) {
      --listeners;
      refuse(response, 503, fmt::format("{} pages are open already. Close one", kMostListeners));
      return;
    }
    struct Stream {
      Stream(LiveStudy& of, std::atomic<int>& counter) : watcher(of), count(counter) {}
      ~Stream() { --count; }
      Stream(const Stream&) = delete;
      Stream& operator=(const Stream&) = delete;
      LiveStudy::Watcher watcher;
      std::atomic<int>& count;
      std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
      std::string last;
      int waits = 0;
    };
    const auto stream = std::make_shared<Stream>(study, listeners);
    response.set_chunked_content_provider("text/event-stream", [this, stream](std::size_t, httplib::DataSink& sink) {
      study.await_state(stream->number, kWait);
      if (stopping) {
        sink.done();
        return true;
      }
      std::string text = study.state_json();
      if (text != stream->last) {
        stream->last = text;
        text = fmt::format("event: state\ndata: {}\n\n", text);
      } else if (++stream->waits % kSilentWaits == 0) {
        text = ": here\n\n";
      } else {
        return true;
      }
      return sink.write(text.data(), text.size());
    });
  }

  LiveStudy& study;
  const std::string token;
  httplib::Server http;
  int port = -1;
  std::atomic<int> listeners{0};
  std::atomic<bool> stopping{false};
};

PageServer::PageServer(LiveStudy& study, int port) : server_(std::make_unique<Server>(study, port)) {}

PageServer::~PageServer() = default;

std::string PageServer::url() const {
  return fmt::format("http://{}:{}/?token={}", kAddress, server_->port, server_->token);
}

void PageServer::serve() {
  std::atomic<bool> ended{false};
  std::thread listener([&] {
    server_->http.listen_after_bind();
    ended = true;
  });
  while (!interrupt_requested() && !ended) std::this_thread::sleep_for(kWait / 5);
  const bool failed = ended;
  server_->stopping = true;
  server_->study.stop();
  for (bool told = false; !ended; std::this_thread::sleep_for(kWait / 100)) {
    if (told || !server_->http.is_running()) continue;  // a listener that does not run yet hears no stop
    server_->http.stop();
    told = true;
  }
  listener.join();
  if (failed)
    throw Error(ErrorKind::failure, fmt::format("serve: {}:{} takes no connections any more", kAddress, server_->port));
}

}  // namespace hindsight::app
