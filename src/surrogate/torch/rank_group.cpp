/// Ranks by LibTorch's c10d with Gloo.
#include "surrogate/torch/rank_group.h"

#include <stdexcept>
#include <vector>

#ifdef USE_C10D_GLOO
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#endif

namespace hindsight::surrogate::torch_backend {

#ifndef USE_C10D_GLOO

std::unique_ptr<RankGroup> join_ranks(const RankOptions&) {
  throw std::runtime_error(
      "this build has no Gloo, which several ranks need. Install libgloo-dev, then configure and build again");
}

#else

namespace {

namespace fs = std::filesystem;
using RankClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::string_view kTcp = "tcp://";
/// What a file that names a store begins with.
constexpr const char* kStoreWord = "hindsight-ranks";
/// [chosen] Short beside a start, long beside a look at a file.
constexpr milliseconds kAskEvery{1000};
/// After one rank has found a fault, the others find it, too, within their own timeout; those that live say so then.
/// [chosen] what connections that are closed in turn take at most
constexpr milliseconds kRollCall{10'000};

milliseconds milliseconds_of(double seconds) { return milliseconds(static_cast<std::int64_t>(1000 * seconds)); }

/// c10d's messages have stack traces and places in sources behind the first line.
std::string first_line(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

/// "rank 1" or "ranks 1, 3 and 4".
std::string names_of(const std::vector<std::int64_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return text;
}

/// Whether a socket can be bound to what this host's name means. c10d asks the same, and warns where it cannot.
bool has_own_address() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return false;
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(name.data(), nullptr, &hints, &found) != 0) return false;
  bool binds = false;
  for (const addrinfo* one = found; one != nullptr && !binds; one = one->ai_next) {
    const int descriptor = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
    binds = descriptor >= 0 && bind(descriptor, one->ai_addr, one->ai_addrlen) == 0;
    if (descriptor >= 0) close(descriptor);
  }
  freeaddrinfo(found);
  return binds;
}

/// By what this rank is reached: the interface that GLOO_SOCKET_IFNAME names, the address of the host's name, or, where
/// that has none, this machine alone.
std::shared_ptr<gloo::transport::Device> own_device() {
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface != nullptr) {
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  }
  return has_own_address() ? c10d::ProcessGroupGloo::createDefaultDevice()
                           : c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
}

class GlooGroup final : public RankGroup {
 public:
  explicit GlooGroup(const RankOptions& options) : options_(options), deadline_(RankClock::now() + timeout()) {
    if (options_.rendezvous.starts_with(kTcp)) {
      meet_at_port();
    } else {
      meet_in_file();
    }
    require_all("hello");
    store_->setTimeout(timeout());
    auto how = c10d::ProcessGroupGloo::Options::create(timeout());
    how->devices.push_back(own_device());
    how->threads = 1;
    watched([&] {
      group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(c10::make_intrusive<c10d::PrefixStore>("gloo", store_),
                                                           static_cast<int>(index()), static_cast<int>(count()), how);
    });
  }

  ~GlooGroup() override {
    if (!left_) static_cast<void>(group_.release());  // its threads may wait for those that are gone
  }

  [[nodiscard]] std::int64_t index() const override { return options_.index; }
  [[nodiscard]] std::int64_t count() const override { return options_.count; }

  void sum(at::Tensor& values) override {
    at::Tensor host = values.device().is_cpu() ? values.contiguous() : values.to(at::kCPU).contiguous();
    watched([&] {
      std::vector<at::Tensor> tensors{host};
      group_->allreduce(tensors)->wait();
    });
    if (!host.is_same(values)) values.copy_(host);
  }

  void require_same(const std::string& what, const std::string& text) override {
    // Parts of 16 bits are exact as float.
    constexpr std::int64_t kParts = 4;
    at::Tensor table = at::zeros({count(), kParts}, at::kFloat);
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a: equal texts are told, nobody is kept out
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    for (std::int64_t part = 0; part < kParts; ++part) {
      table[index()][part] = static_cast<float>(hash >> static_cast<unsigned>(16 * part) & 0xFFFFU);
    }
    sum(table);
    std::vector<std::int64_t> others;
    for (std::int64_t rank = 1; rank < count(); ++rank) {
      if (!at::equal(table[rank], table[0])) others.push_back(rank);
    }
    if (others.empty()) return;
    throw std::runtime_error(names_of(others) + " has another " + what +
                             " than rank 0. Start all ranks by one command, with one log");
  }

  void leave() override {
    // The last sum may still be on its way to somebody: nobody closes its connections before all have said so.
    left_ = true;
    try {
      store_->setTimeout(kAskEvery);
      store_->set("left/" + std::to_string(index()), bytes_of("1"));
      static_cast<void>(missing("left", kRollCall));
    } catch (const std::exception&) {  // rank 0 has seen all leave, and is gone with the list
    }
    if (index() == 0 && !options_.rendezvous.starts_with(kTcp)) {
      std::this_thread::sleep_for(kAskEvery / 4);  // the others look at it once more
      std::error_code ignored;
      fs::remove(options_.rendezvous, ignored);
      fs::remove(store_file_, ignored);
    }
  }

 private:
  [[nodiscard]] milliseconds timeout() const { return milliseconds_of(options_.timeout_s); }
  [[nodiscard]] milliseconds left() const {
    return std::max(milliseconds(1), std::chrono::duration_cast<milliseconds>(deadline_ - RankClock::now()));
  }

  /// Rank 0 listens; the others ask until it does.
  void meet_at_port() {
    const std::string place = options_.rendezvous.substr(kTcp.size());
    const std::size_t colon = place.rfind(':');
    c10d::TCPStoreOptions how;
    how.port = static_cast<std::uint16_t>(std::stoi(place.substr(colon + 1)));
    how.isServer = index() == 0;
    how.numWorkers = static_cast<std::size_t>(count());
    how.waitWorkers = false;
    how.timeout = timeout();
    try {
      store_ = c10::make_intrusive<c10d::TCPStore>(place.substr(0, colon), how);
    } catch (const std::exception& error) {
      throw std::runtime_error(index() == 0 ? options_.rendezvous + ": cannot listen (" + first_line(error) + ")"
                                            : "rank 0 did not come to " + options_.rendezvous + " in " +
                                                  std::to_string(timeout().count() / 1000) + " s");
    }
    store_->set("hello/" + std::to_string(index()), bytes_of("1"));
  }

  /// The file that the user names says which store is meant, so that one of an earlier training, or anything else that
  /// lies there, is never read as a store. The others look until rank 0 of this training has answered in it.
  void meet_in_file() {
    if (index() == 0) {
      std::error_code ignored;
      if (const std::string old = named_store(); !old.empty()) fs::remove(old, ignored);
      const std::string token = std::to_string(std::random_device{}());
      open_store(options_.rendezvous + "." + token);
      store_->set("hello/0", bytes_of("1"));
      write_name(token);
      answer_all();
      return;
    }
    const std::string nonce = std::to_string(std::random_device{}());
    while (RankClock::now() < deadline_) {
      const std::string name = named_store();
      if (!name.empty() && fs::exists(name)) {
        try {
          open_store(name);
          if (is_answered(nonce)) return;
        } catch (const std::exception&) {  // rank 0 has removed the store of an earlier training
        }
      }
      std::this_thread::sleep_for(kAskEvery / 20);
    }
    throw std::runtime_error("rank 0 did not come to " + options_.rendezvous + " in " +
                             std::to_string(timeout().count() / 1000) + " s. Do all ranks see this file?");
  }

  /// The store that the file names; empty where it names none.
  [[nodiscard]] std::string named_store() const {
    std::ifstream file(options_.rendezvous);
    std::string words, token;
    if (!(file >> words >> token) || words != kStoreWord || token.empty() || token.size() > 20) return {};
    if (token.find_first_not_of("0123456789") != std::string::npos) return {};
    return options_.rendezvous + "." + token;
  }

  /// Whole or not at all.
  void write_name(const std::string& token) const {
    const std::string own = options_.rendezvous + ".new";
    std::ofstream(own) << kStoreWord << ' ' << token << '\n';
    std::error_code error;
    fs::rename(own, options_.rendezvous, error);
    if (error) throw std::runtime_error(options_.rendezvous + ": cannot be written (" + error.message() + ")");
  }

  void open_store(const std::string& file) {
    store_file_ = file;
    store_ = c10::make_intrusive<c10d::FileStore>(file, -1);
    store_->setTimeout(kAskEvery);  // a file that is not there is waited for
  }

  /// Whether rank 0 answers within a second in the file as it is now.
  [[nodiscard]] bool is_answered(const std::string& nonce) {
    const std::string own = std::to_string(index());
    store_->set("ask/" + own, bytes_of(nonce));
    const auto again = RankClock::now() + kAskEvery;
    while (RankClock::now() < again) {
      if (answer("answer/" + own) == nonce) {
        store_->set("hello/" + own, bytes_of("1"));
        return true;
      }
      std::this_thread::sleep_for(kAskEvery / 20);
    }
    return false;
  }

  /// Until all have said hello or the time is over.
  void answer_all() {
    while (RankClock::now() < deadline_ && !missing("hello", milliseconds(1)).empty()) {
      for (std::int64_t rank = 1; rank < count(); ++rank) {
        const std::string asked = answer("ask/" + std::to_string(rank));
        if (!asked.empty()) store_->set("answer/" + std::to_string(rank), bytes_of(asked));
      }
      std::this_thread::sleep_for(kAskEvery / 20);
    }
  }

  /// The value of a key; empty where there is none yet.
  [[nodiscard]] std::string answer(const std::string& key) {
    if (!store_->check({key})) return {};
    const std::vector<std::uint8_t> bytes = store_->get(key);
    return {bytes.begin(), bytes.end()};
  }

  /// Ranks that have not set their key within `wait`.
  [[nodiscard]] std::vector<std::int64_t> missing(const std::string& key, milliseconds wait) {
    const auto end = RankClock::now() + wait;
    std::vector<std::int64_t> ranks;
    do {
      ranks.clear();
      for (std::int64_t rank = 0; rank < count(); ++rank) {
        if (!store_->check({key + "/" + std::to_string(rank)})) ranks.push_back(rank);
      }
      if (ranks.empty()) return ranks;
      std::this_thread::sleep_for(std::min(wait, kAskEvery / 20));
    } while (RankClock::now() < end);
    return ranks;
  }

  void require_all(const std::string& key) {
    const std::vector<std::int64_t> absent = missing(key, left());
    if (absent.empty()) return;
    throw std::runtime_error(names_of(absent) + " of " + std::to_string(count()) + " did not come to " +
                             options_.rendezvous + " in " + std::to_string(timeout().count() / 1000) +
                             " s. Start as many processes as --ranks says");
  }

  /// `body`, and where it fails, which ranks do not answer.
  void watched(const std::function<void()>& body) {
    try {
      body();
    } catch (const std::exception& error) {
      throw std::runtime_error(who_is_gone() + " (" + first_line(error).substr(0, 120) +
                               "). Start all ranks again, with --resume where there is a checkpoint");
    }
  }

  [[nodiscard]] std::string who_is_gone() {
    try {
      store_->set("alive/" + std::to_string(index()), bytes_of("1"));
      const std::vector<std::int64_t> gone = missing("alive", kRollCall);
      const std::string of = " of " + std::to_string(count());
      if (!gone.empty()) return names_of(gone) + of + " does not answer any more";
      return "the connections between the ranks broke, though all of them run";
    } catch (const std::exception&) {  // rank 0 keeps the list
      return "rank 0 of " + std::to_string(count()) + ", which keeps the rendezvous, does not answer any more";
    }
  }

  RankOptions options_;
  RankClock::time_point deadline_;  ///< of the rendezvous
  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  std::string store_file_;  ///< empty at a port
  bool left_ = false;
};

}  // namespace

std::unique_ptr<RankGroup> join_ranks(const RankOptions& options) { return std::make_unique<GlooGroup>(options); }

#endif

}  // namespace hindsight::surrogate::torch_backend
