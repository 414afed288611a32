#include "src/http/http_server.hpp"

#include <chrono>
#include <utility>

#include <restinio/all.hpp>

#include "src/http/metered_socket.hpp"
#include "src/net/acceptor.hpp"

namespace bullring {

namespace {

/// A client that dawdles over its request, or over reading the answer.
constexpr std::chrono::seconds patience{5};
/// Of a stream, between two writes: the handler writes a comment each 15 s.
constexpr std::chrono::seconds quiet_max{60};
/// What is read of a body before it is refused.
constexpr std::uint64_t body_read_max = 64 * 1024;

struct Traits : restinio::traits_t<restinio::asio_timer_manager_t, restinio::null_logger_t> {
    using stream_socket_t = MeteredSocket;     // NOLINT: restinio looks for these names
    using strand_t = restinio::noop_strand_t;  // NOLINT
};

const char* reason(int status) {
    switch (status) {
        case 200: return "OK";
        case 202: return "Accepted";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 409: return "Conflict";
        case 413: return "Payload Too Large";
        case 503: return "Service Unavailable";
        default: return "Error";
    }
}

class EventStream final : public HttpStream {
public:
    using Builder = restinio::response_builder_t<restinio::chunked_output_t>;
    EventStream(Builder builder, std::weak_ptr<MeteredConnection> connection)
        : builder_(std::move(builder)), connection_(std::move(connection)) {
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

    bool is_open() const override {
        const auto connection = connection_.lock();
        return connection && !*failed_ && !has_ended(*connection);
    }

private:
    Builder builder_;
    std::weak_ptr<MeteredConnection> connection_;
    std::shared_ptr<bool> failed_ = std::make_shared<bool>(false);
};

class Reply final : public HttpReply {
public:
    Reply(restinio::request_handle_t request, std::weak_ptr<MeteredConnection> connection)
        : request_(std::move(request)), connection_(std::move(connection)) {}

    void send(const HttpAnswer& answer) override {
        const restinio::http_status_line_t line{
            restinio::http_status_code_t{static_cast<std::uint16_t>(answer.status)},
            reason(answer.status)};
        auto response = request_->create_response<restinio::user_controlled_output_t>(line);
        add_headers(response, answer.type, answer.policy);
        if (!answer.allow.empty()) response.append_header("Allow", std::string(answer.allow));
        response.set_content_length(answer.body.size());
        if (request_->header().method() != restinio::http_method_head())
            response.set_body(answer.body);
        response.done();
    }

    std::unique_ptr<HttpStream> stream(const char* type) override {
        auto response = request_->create_response<restinio::chunked_output_t>();
        add_headers(response, type, HttpAnswer{}.policy);
        return std::make_unique<EventStream>(std::move(response), connection_);
    }

private:
    template <class Response>
    static void add_headers(Response& response, const char* type, const char* policy) {
        response.append_header("Content-Type", type);
        response.append_header("Cache-Control", "no-store");
        response.append_header("Content-Security-Policy", policy);
        response.append_header("X-Content-Type-Options", "nosniff");
        response.append_header("Referrer-Policy", "no-referrer");
    }

    restinio::request_handle_t request_;
    std::weak_ptr<MeteredConnection> connection_;
};

}  // namespace

class HttpServer::Impl {
public:
    Impl(asio::io_context& io, std::vector<OwnedFd> listeners, Handler handler,
         std::function<void(const std::string&)> failed)
        : io_(io),
          handler_(std::move(handler)),
          acceptor_(io_, std::move(listeners),
                    {[this](OwnedFd fd) { on_accepted(std::move(fd)); }, std::move(failed)}) {
        restinio::server_settings_t<Traits> settings;
        settings.request_handler([this](restinio::request_handle_t request) {
            on_request(std::move(request));
            return restinio::request_accepted();
        });
        settings.read_next_http_message_timelimit(patience)
            .write_http_response_timelimit(patience)
            .handle_request_timeout(quiet_max)
            .incoming_http_msg_limits(restinio::incoming_http_msg_limits_t{}
                                          .max_url_size(HeadMeter::head_max)
                                          .max_field_name_size(HeadMeter::head_max)
                                          .max_field_value_size(HeadMeter::head_max)
                                          .max_field_count(HeadMeter::head_max)
                                          .max_body_size(body_read_max));
        timers_ = settings.timer_factory()->create(io_);
        timers_->start();
        using Settings = restinio::impl::connection_settings_t<Traits>;
        factory_ = std::make_unique<Factory>(
            std::make_shared<Settings>(
                std::move(settings),
                restinio::impl::create_parser_settings<Traits::http_methods_mapper_t>(), timers_),
            std::make_unique<restinio::socket_options_setter_t>([](auto& /*options*/) {}));
    }

    ~Impl() {
        acceptor_.stop();
        timers_->stop();
    }

    void start() { acceptor_.start(); }

private:
    using Factory = restinio::impl::connection_factory_t<Traits>;
    using Limiter = restinio::connection_count_limits::noop_connection_count_limiter_t;

    void on_accepted(OwnedFd fd) {
        if (connections_->open >= connections_max) return;
        // A Unix socket, too, goes by the name of TCP here: the descriptor is all that is used.
        asio::ip::tcp::socket socket(io_, asio::ip::tcp::v4(), fd.release());
        factory_
            ->create_new_connection(MeteredSocket(std::move(socket), connections_), {},
                                    Factory::lifetime_monitor_t(&limiter_))
            ->init();
    }

    void on_request(restinio::request_handle_t request) {
        const auto& header = request->header();
        auto reply = std::make_shared<Reply>(request, connections_->reading);
        const std::string method = header.method().c_str();
        const std::string path(header.path());
        if (request->body().size() > body_max)
            return reply->send({413, "a body has at most 1 KiB here\n", "text/plain"});
        handler_({method, path, request->body(),
                  [&header](std::string_view name) -> std::string_view {
                      const auto found =
                          header.try_get_field(restinio::string_view_t(name.data(), name.size()));
                      return found ? std::string_view(found->data(), found->size())
                                   : std::string_view();
                  }},
                 std::move(reply));
    }

    asio::io_context& io_;
    Handler handler_;
    Acceptor acceptor_;
    Limiter limiter_{nullptr, restinio::connection_count_limits::max_parallel_connections_t{0},
                     restinio::connection_count_limits::max_active_accepts_t{1}};  // does nothing
    std::shared_ptr<Connections> connections_ = std::make_shared<Connections>();
    std::shared_ptr<Traits::timer_manager_t> timers_;
    std::unique_ptr<Factory> factory_;
};

HttpServer::HttpServer(asio::io_context& io, std::vector<OwnedFd> listeners, Handler handler,
                       std::function<void(const std::string&)> failed)
    : impl_(std::make_unique<Impl>(io, std::move(listeners), std::move(handler),
                                   std::move(failed))) {}

HttpServer::~HttpServer() = default;

void HttpServer::start() { impl_->start(); }

}  // namespace bullring
