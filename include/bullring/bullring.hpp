// The whole of the library's C++ interface.
#pragma once

#include <bullring/administrator.hpp>
#include <bullring/fencing_guard.hpp>
#include <bullring/leader.hpp>
#include <bullring/leadership.hpp>
#include <bullring/log.hpp>
#include <bullring/members.hpp>
#include <bullring/node.hpp>
#include <bullring/observer.hpp>
#include <bullring/options.hpp>
#include <bullring/version.hpp>
