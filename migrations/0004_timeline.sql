-- The histories that the feed has had. A restore from a backup, or a failover to a standby that lags behind, takes positions back and gives them
-- to other events; a cursor from before would skip these. So positions belong to timelines, and a cursor names both. Each row is a
-- timeline: the positions above `after`, up to that of the next row. Positions below the first are from before there were timelines.
-- A row is made when a node starts after new events, and when a server is another one than before; it takes about 100 bytes and stays,
-- because a cursor may be of any age.
CREATE TABLE feed_timelines (
  after    bigint PRIMARY KEY,
  -- The cell, when it began (milliseconds in hex) and what nobody could guess: `0-19b2c3d4e5f-9f86d081884c7d65`.
  id       text NOT NULL UNIQUE,
  began_at timestamptz NOT NULL,
  -- What the positions were given by; see src/sql/events/feed_server.sql.
  server   text NOT NULL
);
