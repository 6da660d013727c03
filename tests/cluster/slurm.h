/// A Slurm cluster of one node: munged, slurmctld and slurmd in a folder, ended with the test.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace hindsight::cluster::test {

class Slurm {
 public:
  /// Starts the daemons; see problem().
  explicit Slurm(const std::filesystem::path& folder);
  ~Slurm();
  Slurm(const Slurm&) = delete;
  Slurm& operator=(const Slurm&) = delete;

  /// Why there is no cluster, with the daemons' own words; empty: the node is idle.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// What Slurm's commands read as SLURM_CONF.
  [[nodiscard]] std::string configuration() const { return (folder_ / "slurm.conf").string(); }

 private:
  void write_configuration() const;
  [[nodiscard]] std::string last_words() const;

  std::filesystem::path folder_;
  std::string problem_;
};

}  // namespace hindsight::cluster::test
