-- title: Who founds a class tonight, and who changes class
-- source: sqlmicro: what the theorem of a series demands, measured on what is written of its persons
-- reads: changed (who, seat, founded: the class that a record founded last, or -1; person: whose it is, 0 where every record is
--   another person's), kept (series, release, who, seat, founded, person)
-- returns: one row: fewest (persons who found a class), most (persons who found a class, and founded another one before, with
--   any record), moved (records with another class than the one they were in)
-- params: changed, kept, series (its name), first (release of the epoch)
WITH records AS (
  SELECT
    c.founded,
    c.seat,
    CASE WHEN c.person = 0 THEN c.who ELSE c.person END AS person,
    k.founded AS founded_before,
    CASE WHEN k.seat >= 0 THEN k.seat WHEN k.seat < -1 THEN -2 - k.seat END AS own
  FROM {{ changed | ident }} AS c
  LEFT JOIN (
    SELECT who, arg_max(seat, release) AS seat, arg_max(founded, release) AS founded
    FROM {{ kept | ident }}
    WHERE series = {{ series | lit }} AND release >= {{ first }} AND who IN (SELECT who FROM {{ changed | ident }})
    GROUP BY who) AS k ON c.who = k.who
), founders AS (
  SELECT founded, person, founded_before
  FROM records
  WHERE founded >= 0 AND founded IS DISTINCT FROM founded_before
), earliest AS (
  SELECT person, min(founded) AS founded
  FROM (
    SELECT person, founded FROM founders
    UNION ALL
    SELECT person, founded
    FROM {{ kept | ident }}
    WHERE series = {{ series | lit }} AND release >= {{ first }} AND person <> 0 AND founded >= 0)
  GROUP BY person
), classes AS (
  SELECT
    f.founded,
    count(DISTINCT f.person) AS n,
    count(DISTINCT f.person) FILTER (WHERE f.founded_before >= 0 OR e.founded < f.founded) AS again
  FROM founders AS f
  JOIN earliest AS e USING (person)
  GROUP BY f.founded
)
SELECT
  (SELECT min(n) FROM classes) AS fewest,
  (SELECT max(again) FROM classes) AS most,
  (SELECT count(*) FROM records WHERE seat >= 0 AND own <> seat) AS moved
