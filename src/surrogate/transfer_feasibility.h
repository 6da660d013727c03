/// Adapting what a model says of limits to rows of another source.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "surrogate/limit_transfer.h"
#include "surrogate/transfer_rows.h"

namespace hindsight::surrogate {

/// Log of p_feasible by the first network, each row held out; one reason after the other.
struct Feasibility {
  Eigen::VectorXd before, after;  // n
  void add(const LimitMoves& moves, bool was_known);
};

/// Every reason that the model knows moves to what the rows say of it; new ones are added.
[[nodiscard]] Feasibility adapt_feasibility(const TransferRows& rows, TransferNetworks& networks,
                                            std::vector<std::string>& remarks);

/// Feasible rows that the model as it is takes to be infeasible (p_feasible below 1/2): it has not learnt what such
/// designs cost. 0 where it has learned no feasibility.
[[nodiscard]] std::size_t taken_for_infeasible(const TransferRows& rows);

}  // namespace hindsight::surrogate
