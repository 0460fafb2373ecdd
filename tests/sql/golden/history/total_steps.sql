-- title: By how few rows the whole release differs between tonight and any earlier night of a series
-- source: sqlmicro: the rows of all combinations together are a count as any other
-- reads: tonight (class, rows), kept (series, release, class, rows, since): one row whenever that number changed
-- returns: one row: smallest (difference that is not 0, NULL where there is none)
-- params: tonight, kept, series (its name), first (release of the epoch)
WITH steps AS (
  SELECT since, rows - lag(rows, 1, 0) OVER (PARTITION BY class ORDER BY since) AS step
  FROM "staging"."kept"
  WHERE series = 'nightly' AND release >= 3
),
nights AS (
  SELECT sum(sum(step)) OVER (ORDER BY since) AS rows
  FROM steps
  GROUP BY since
)
SELECT min(abs(n.rows - t.rows)) AS smallest
FROM nights AS n, (SELECT coalesce(sum(rows), 0) AS rows FROM "staging"."tonight") AS t
WHERE n.rows <> t.rows
