#!/usr/bin/env python3
"""Moves rows from a table to a queue, on exactly one of several machines. PostgreSQL is the fenced
store: it refuses what a leader writes that has been replaced.

    poller_postgresql.py DSN [DATA-DIR]

Start it on each machine beside a `bullring node` (python3-bullring(7)), once with these tables:

    CREATE TABLE inbox (id bigint PRIMARY KEY, sent boolean NOT NULL DEFAULT false);
    CREATE TABLE queue (place bigserial PRIMARY KEY, id bigint NOT NULL, epoch bigint NOT NULL);
    CREATE TABLE fence (epoch bigint NOT NULL);
    INSERT INTO fence VALUES (0);
"""

import contextlib
import sys

import bullring
import psycopg2

# It also locks that row: until this transaction ends, a newer leader waits, and after it an older
# one finds no row.
ADMIT = "UPDATE fence SET epoch = %(epoch)s WHERE epoch <= %(epoch)s"
MOVE = """
WITH moved AS (
    UPDATE inbox SET sent = true
    WHERE id = (SELECT id FROM inbox WHERE NOT sent ORDER BY id LIMIT 1)
    RETURNING id
)
INSERT INTO queue (id, epoch) SELECT id, %(epoch)s FROM moved
"""
# A leader that is stopped in the middle of a transaction must not hold that lock for ever.
OPTIONS = "-c idle_in_transaction_session_timeout=1s"


def move_one(database, epoch):
    """Whether there was a row."""
    with database, database.cursor() as cursor:  # a transaction
        cursor.execute(ADMIT, {"epoch": epoch})
        if cursor.rowcount == 0:
            raise bullring.Lost("fenced")
        cursor.execute(MOVE, {"epoch": epoch})
        return cursor.rowcount == 1


def poll(dsn, lead):
    with contextlib.closing(psycopg2.connect(dsn, options=OPTIONS)) as database:
        while lead.valid():
            if not move_one(database, lead.epoch):
                lead.wait(0.1)


def main():
    # What goes wrong in the database ends this program; let a supervisor start it again.
    bullring.run_while_leader(lambda lead: poll(sys.argv[1], lead), *sys.argv[2:3])


if __name__ == "__main__":
    main()
