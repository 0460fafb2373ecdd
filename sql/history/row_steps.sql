-- title: By how few rows a published combination differs between tonight and any earlier night of a series
-- source: sqlmicro: who comes or goes alone is seen by a difference below k. Where a combination has the rows of the night
--   before, it was compared with the nights before that one then
-- reads: changed (class, rows: of the combinations with other rows than in the night before), kept (series, release, class,
--   rows, since): one row whenever that number changed
-- returns: one row: smallest (difference that is not 0, NULL where nothing changed), below (combinations with one below k)
-- params: changed, kept, series (its name), first (release of the epoch), k
WITH kept AS (
  SELECT class, rows, since
  FROM {{ kept | ident }}
  WHERE series = {{ series | lit }} AND release >= {{ first }} AND class IN (SELECT class FROM {{ changed | ident }})
)
SELECT min(step) AS smallest, count(DISTINCT class) FILTER (WHERE step < {{ k }}) AS below
FROM (
  SELECT e.class, abs(t.rows - e.rows) AS step
  FROM (
    SELECT class, rows FROM kept
    UNION
    SELECT class, 0 FROM kept GROUP BY class HAVING min(since) > {{ first }}
    UNION
    SELECT class, 0 FROM {{ changed | ident }} WHERE class NOT IN (SELECT class FROM kept)) AS e
  JOIN {{ changed | ident }} AS t ON e.class = t.class)
WHERE step > 0
