/// Adapting what a model says of limits to rows of another source.
#pragma once

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

}  // namespace hindsight::surrogate
