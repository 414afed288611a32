// The metrics of a node, as Prometheus reads them. Pure: everything is handed in, and no clock is
// read.
#pragma once

#include <string>
#include <string_view>

#include "src/http/node_state.hpp"
#include "src/node/metrics/node_counts.hpp"
#include "src/node/showcase.hpp"

namespace bullring {

enum class MetricsFormat { prometheus, open_metrics };

/// By the Accept header of a request; Prometheus's own format unless the other one is asked for.
MetricsFormat metrics_format(std::string_view accept);
const char* content_type(MetricsFormat format);

std::string metrics_text(MetricsFormat format, const AtTheMoment& at, const NodeCounts& counts,
                         const Connected& connected);

}  // namespace bullring
