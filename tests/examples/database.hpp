// The tables of the poller, in SQLite: `inbox` (id, sent), `queue` (id, epoch), and `fence`, one
// row with the highest epoch that has written.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include <sqlite3.h>

class Database {
public:
    explicit Database(const std::string& path) {
        check(sqlite3_open(path.c_str(), &handle_));
        check(sqlite3_busy_timeout(handle_, 10'000));
    }
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database() { sqlite3_close(handle_); }

    /// The first thing that a leader does, before it reads what it is going to act on: from here on
    /// no older leader writes. False when a newer one has written already.
    bool take_over(std::uint64_t epoch) {
        run("BEGIN IMMEDIATE");
        const bool newest = raise_fence(static_cast<std::int64_t>(epoch));
        run(newest ? "COMMIT" : "ROLLBACK");
        return newest;
    }

    std::optional<std::int64_t> next_row() {
        Statement select(*this, "SELECT min(id) FROM inbox WHERE NOT sent");
        if (!select.step() || sqlite3_column_type(select.get(), 0) == SQLITE_NULL)
            return std::nullopt;
        return sqlite3_column_int64(select.get(), 0);
    }

    /// One transaction. False, and nothing is changed, when a newer leader has written already.
    bool move_row(std::int64_t id, std::uint64_t epoch) {
        run("BEGIN IMMEDIATE");
        const auto token = static_cast<std::int64_t>(epoch);
        if (!raise_fence(token)) {
            run("ROLLBACK");
            return false;
        }
        change("INSERT INTO queue (id, epoch) VALUES (?2, ?1)", token, id);
        change("UPDATE inbox SET sent = 1 WHERE id = ?2", token, id);
        run("COMMIT");
        return true;
    }

private:
    class Statement {
    public:
        Statement(Database& database, const char* sql) : database_(database) {
            database_.check(sqlite3_prepare_v2(database_.handle_, sql, -1, &statement_, nullptr));
        }
        Statement(const Statement&) = delete;
        Statement& operator=(const Statement&) = delete;
        ~Statement() { sqlite3_finalize(statement_); }
        bool step() {
            const int result = sqlite3_step(statement_);
            if (result != SQLITE_ROW && result != SQLITE_DONE) database_.check(result);
            return result == SQLITE_ROW;
        }
        sqlite3_stmt* get() const { return statement_; }

    private:
        Database& database_;
        sqlite3_stmt* statement_ = nullptr;
    };

    bool raise_fence(std::int64_t token) {
        change("UPDATE fence SET epoch = ?1 WHERE epoch <= ?1", token, 0);
        return sqlite3_changes(handle_) != 0;
    }
    void run(const char* sql) { check(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr)); }
    void change(const char* sql, std::int64_t epoch, std::int64_t id) {
        Statement statement(*this, sql);
        check(sqlite3_bind_int64(statement.get(), 1, epoch));
        if (sqlite3_bind_parameter_count(statement.get()) > 1)
            check(sqlite3_bind_int64(statement.get(), 2, id));
        statement.step();
    }
    void check(int result) const {
        if (result != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(handle_));
    }

    sqlite3* handle_ = nullptr;
};
