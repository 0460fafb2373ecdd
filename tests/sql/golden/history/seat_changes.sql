-- title: Who founds a class tonight, and who changes class
-- source: sqlmicro: what the theorem of a series demands, measured on what is written of its persons
-- reads: changed (who, seat, founded: the class that a person founded last, or -1), kept (series, release, who, seat, founded)
-- returns: one row: fewest (founders of a class), most (founders of a class who founded another one before), moved
--   (persons with another class than the one they were in)
-- params: changed, kept, series (its name), first (release of the epoch)
WITH persons AS (
  SELECT
    c.founded,
    c.seat,
    k.founded AS founded_before,
    CASE WHEN k.seat >= 0 THEN k.seat WHEN k.seat < -1 THEN -2 - k.seat END AS own
  FROM "staging"."changed" AS c
  LEFT JOIN (
    SELECT who, arg_max(seat, release) AS seat, arg_max(founded, release) AS founded
    FROM "staging"."kept"
    WHERE series = 'nightly' AND release >= 3 AND who IN (SELECT who FROM "staging"."changed")
    GROUP BY who) AS k ON c.who = k.who
), founders AS (
  SELECT founded, count(*) AS n, count(*) FILTER (WHERE founded_before >= 0) AS again
  FROM persons
  WHERE founded >= 0 AND founded IS DISTINCT FROM founded_before
  GROUP BY founded
)
SELECT
  (SELECT min(n) FROM founders) AS fewest,
  (SELECT max(again) FROM founders) AS most,
  (SELECT count(*) FROM persons WHERE seat >= 0 AND own <> seat) AS moved
