#include "src/http/http_server.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <asio/post.hpp>
#include <restinio/all.hpp>

#include "src/base/log/logging.hpp"
#include "src/http/answer_text.hpp"
#include "src/http/http_parsing.hpp"
#include "src/http/http_socket.hpp"
#include "src/http/refused_request.hpp"
#include "src/http/request_target.hpp"
#include "src/http/tokens.hpp"
#include "src/node/net/acceptor.hpp"

namespace bullring {

namespace {

/// Of a stream, between two writes: the handler writes a comment each 15 s.
constexpr std::chrono::seconds quiet_max{60};

struct Traits : restinio::traits_t<restinio::asio_timer_manager_t, restinio::null_logger_t> {
    using stream_socket_t = HttpSocket;        // NOLINT: restinio looks for these names
    using strand_t = restinio::noop_strand_t;  // NOLINT
};

class EventStream final : public HttpStream {
public:
    using Builder = restinio::response_builder_t<restinio::chunked_output_t>;
    EventStream(Builder builder, std::unique_ptr<HttpConnection::Request> under_way)
        : builder_(std::move(builder)), under_way_(std::move(under_way)) {
        builder_.flush();
    }
    ~EventStream() override {
        try {
            builder_.done();
        } catch (const std::exception&) {
            return;  // the connection is gone
        }
    }

    void write(std::string text) override {
        builder_.append_chunk(std::move(text));
        builder_.flush([failed = failed_](const asio::error_code& error) {
            if (error) *failed = true;
        });
    }

    bool is_open() const override { return !*failed_ && !under_way_->connection().has_ended(); }

private:
    Builder builder_;
    std::unique_ptr<HttpConnection::Request> under_way_;
    std::shared_ptr<bool> failed_ = std::make_shared<bool>(false);
};

class Reply final : public HttpReply {
public:
    Reply(restinio::request_handle_t request, std::unique_ptr<HttpConnection::Request> under_way)
        : request_(std::move(request)), under_way_(std::move(under_way)) {}

    void send(const HttpAnswer& answer) override {
        const restinio::http_status_line_t line{
            restinio::http_status_code_t{static_cast<std::uint16_t>(answer.status)},
            reason_phrase(answer.status)};
        auto response = request_->create_response<restinio::user_controlled_output_t>(line);
        for (const auto& [name, value] : http_headers(answer))
            response.append_header(std::string(name), std::string(value));
        response.set_content_length(answer.body.size());
        if (request_->header().method() != restinio::http_method_head())
            response.set_body(answer.body);
        response.done();
        under_way_.reset();
    }

    std::unique_ptr<HttpStream> stream(const char* type) override {
        auto response = request_->create_response<restinio::chunked_output_t>();
        HttpAnswer head;
        head.type = type;
        for (const auto& [name, value] : http_headers(head))
            response.append_header(std::string(name), std::string(value));
        return std::make_unique<EventStream>(std::move(response), std::move(under_way_));
    }

private:
    restinio::request_handle_t request_;
    std::unique_ptr<HttpConnection::Request> under_way_;
};

}  // namespace

class HttpServer::Impl {
public:
    Impl(asio::io_context& io, std::vector<OwnedFd> listeners, Handler handler,
         std::function<void(const std::string&)> failed)
        : io_(io), handler_(std::move(handler)), failed_(std::move(failed)) {
        add_acceptor(std::move(listeners));
        restinio::server_settings_t<Traits> settings;
        settings.request_handler([this](restinio::request_handle_t request) {
            on_request(std::move(request));
            return restinio::request_accepted();
        });
        settings.read_next_http_message_timelimit(http_patience)
            .write_http_response_timelimit(http_patience)
            .handle_request_timeout(quiet_max)
            .incoming_http_msg_limits(restinio::incoming_http_msg_limits_t{}
                                          .max_url_size(HeadMeter::head_max)
                                          .max_field_name_size(HeadMeter::head_max)
                                          .max_field_value_size(HeadMeter::head_max)
                                          .max_field_count(HeadMeter::head_max)
                                          .max_body_size(body_max));
        connections_->answer_to_large_head =
            last_answer(answer_to_rubbish(HPE_HEADER_OVERFLOW, "", handler_));
        connections_->answer_to_rubbish = [this](http_errno error, std::string_view bytes) {
            return last_answer(answer_to_rubbish(error, bytes, handler_));
        };
        timers_ = settings.timer_factory()->create(io_);
        timers_->start();
        using Settings = restinio::impl::connection_settings_t<Traits>;
        factory_ = std::make_unique<Factory>(
            std::make_shared<Settings>(std::move(settings),
                                       parser_settings<Traits::http_methods_mapper_t>(), timers_),
            std::make_unique<restinio::socket_options_setter_t>([](auto& /*options*/) {}));
    }

    ~Impl() {
        acceptors_.back()->stop();
        timers_->stop();
    }

    void start() { acceptors_.back()->start(); }

    void listen_anew(OwnedFd listener) {
        acceptors_.back()->stop();
        std::vector<OwnedFd> listeners;
        listeners.push_back(std::move(listener));
        add_acceptor(std::move(listeners));
        start();
    }

private:
    using Factory = restinio::impl::connection_factory_t<Traits>;
    using Limiter = restinio::connection_count_limits::noop_connection_count_limiter_t;

    void add_acceptor(std::vector<OwnedFd> listeners) {
        acceptors_.push_back(std::make_unique<Acceptor>(
            io_, std::move(listeners),
            Acceptor::Callbacks{[this](OwnedFd fd) { on_accepted(std::move(fd)); }, failed_}));
    }

    void on_accepted(OwnedFd fd) {
        // A Unix socket, too, goes by the name of TCP here: the descriptor is all that is used.
        asio::ip::tcp::socket socket(io_, asio::ip::tcp::v4(), fd.release());
        if (!make_room()) {
            std::make_shared<HttpConnection>(std::move(socket), connections_)
                ->refuse(answer_when_full_);
            return;
        }
        factory_
            ->create_new_connection(HttpSocket(std::move(socket), connections_), {},
                                    Factory::lifetime_monitor_t(&limiter_))
            ->init();
    }

    /// For one more connection; false if each one that is open has a request under way.
    bool make_room() {
        HttpConnection* quietest = nullptr;
        HttpConnection* first_refused = nullptr;
        std::size_t taken = 0;
        std::size_t refused = 0;
        for (HttpConnection* const one : connections_->open) {
            if (one->is_evicted()) continue;
            if (one->is_draining()) {
                ++refused;
                if (first_refused == nullptr) first_refused = one;
                continue;
            }
            ++taken;
            if (one->is_idle() &&
                (quietest == nullptr || one->quiet_since() < quietest->quiet_since()))
                quietest = one;
        }
        if (taken < connections_max) return true;
        log_limited(LogLevel::warn, "http connections", {},
                    quietest != nullptr
                        ? "http: 64 connections are open; who has asked for nothing for the "
                          "longest time is cut off for a new one"
                        : "http: 64 connections are open and wait for their answers; a new one is "
                          "refused");
        if (quietest != nullptr) {
            quietest->evict();
            return true;
        }
        // Those who don't end what was refused to them are as many at most.
        if (refused >= connections_max) first_refused->evict();
        return false;
    }

    /// Called by restinio while it parses. The answer must come later: restinio reads on when a
    /// request is answered within the call, and loses what a client sends in one go.
    void on_request(restinio::request_handle_t request) {
        auto under_way =
            std::make_unique<HttpConnection::Request>(HttpParsing::current()->connection());
        asio::post(
            io_, [this, request = std::move(request), under_way = std::move(under_way)]() mutable {
                handle(request, std::move(under_way));
            });
    }

    void handle(const restinio::request_handle_t& request,
                std::unique_ptr<HttpConnection::Request> under_way) {
        const auto& header = request->header();
        const std::string method = header.method().c_str();
        const int socket = under_way->connection().socket.native_handle();
        const auto reply = std::make_shared<Reply>(request, std::move(under_way));
        const auto target = request_target(header.request_target());
        if (!target) return reply->send(answer_to_wrong_target());
        handler_({method, target->path, request->body(),
                  [&](std::string_view name) -> std::string_view {
                      if (!target->host.empty() && equal_ignoring_case(name, "Host"))
                          return target->host;
                      const auto found =
                          header.try_get_field(restinio::string_view_t(name.data(), name.size()));
                      return found ? std::string_view(found->data(), found->size())
                                   : std::string_view();
                  },
                  [socket] { return caller_at(socket); }},
                 reply);
    }

    asio::io_context& io_;
    Handler handler_;
    std::function<void(const std::string&)> failed_;
    // The last one is at work. The handlers of those before may be queued: they end with this.
    std::vector<std::unique_ptr<Acceptor>> acceptors_;
    Limiter limiter_{nullptr, restinio::connection_count_limits::max_parallel_connections_t{0},
                     restinio::connection_count_limits::max_active_accepts_t{1}};  // does nothing
    std::shared_ptr<HttpConnections> connections_ = std::make_shared<HttpConnections>();
    const std::string answer_when_full_ =
        last_answer({503, "there are " + std::to_string(connections_max) + " connections already\n",
                     "text/plain"});
    std::shared_ptr<Traits::timer_manager_t> timers_;
    std::unique_ptr<Factory> factory_;
};

HttpServer::HttpServer(asio::io_context& io, std::vector<OwnedFd> listeners, Handler handler,
                       std::function<void(const std::string&)> failed)
    : impl_(std::make_unique<Impl>(io, std::move(listeners), std::move(handler),
                                   std::move(failed))) {}

HttpServer::~HttpServer() = default;

void HttpServer::start() { impl_->start(); }

void HttpServer::listen_anew(OwnedFd listener) { impl_->listen_anew(std::move(listener)); }

}  // namespace bullring
