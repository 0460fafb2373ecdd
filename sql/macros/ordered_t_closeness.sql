-- title: How far the numbers of a class are from those of the whole table, at most, by their ranks
-- source: Li, Li & Venkatasubramanian (2007), ordered distance: the sum over the m values of the differences of the cumulated
--   shares, divided by m - 1. A missing value is the largest, all zeros are one value, and all NaN. Between two values of a
--   class its cumulated share stays (level), that of the table passes it once
-- reads: tbl
-- returns: one row: t
-- params: tbl (name of a table), cols (list of its columns), sensitive (name of a column of numbers)
WITH pairs AS (
  SELECT q, struct_extract(s, 1) AS value, count(*) AS n
  FROM (
    SELECT
      row(*COLUMNS(lambda c: list_contains(cols, c))) AS q,
      row(*COLUMNS(lambda c: c = sensitive)) AS s
    FROM (
      SELECT
        encode(CAST(COLUMNS(lambda c: list_contains(cols, c)) AS VARCHAR)),
        COLUMNS(lambda c: c = sensitive)
      FROM query_table(tbl)
      WHERE (
        SELECT CASE WHEN list_has_all(struct_keys(s), list_append(cols, sensitive)) THEN true
          ELSE error('the table has no such column') END
        FROM (SELECT struct_pack(*COLUMNS(*)) AS s FROM query_table(tbl) LIMIT 1))))
  GROUP BY ALL),
overall AS (
  SELECT value, position, cumulated, sum(cumulated) OVER (ORDER BY position) AS total
  FROM (
    SELECT
      value,
      row_number() OVER (ORDER BY value NULLS LAST) AS position,
      sum(n) OVER (ORDER BY value NULLS LAST) / sum(n) OVER () AS cumulated
    FROM (SELECT value, sum(n) AS n FROM pairs GROUP BY value))),
extent AS (
  SELECT max(position) AS last_position, max(total) AS total
  FROM overall),
steps AS (
  SELECT
    p.q,
    o.position - 1 AS low,
    o.total - o.cumulated AS low_total,
    row_number() OVER class = 1 AS is_first,
    sum(p.n) OVER class / sum(p.n) OVER (PARTITION BY p.q) AS level,
    coalesce(lead(o.position) OVER class - 1, extent.last_position) AS high,
    coalesce(lead(o.total - o.cumulated) OVER class, extent.total) AS high_total,
    extent.last_position
  FROM pairs AS p
  JOIN overall AS o ON p.value IS NOT DISTINCT FROM o.value
  CROSS JOIN extent
  WINDOW class AS (PARTITION BY p.q ORDER BY o.position)),
passed AS (
  SELECT
    steps.*,
    greatest(low, least(high, coalesce(o.position, 0))) AS place,
    CASE
      WHEN coalesce(o.position, 0) <= low THEN low_total
      WHEN o.position >= high THEN high_total
      ELSE o.total
    END AS place_total
  FROM steps
  ASOF LEFT JOIN overall AS o ON steps.level >= o.cumulated)
SELECT max(d) AS t
FROM (
  SELECT
    sum(
      CASE WHEN is_first THEN low_total ELSE 0 END
      + (place - low) * level - (place_total - low_total)
      + (high_total - place_total) - (high - place) * level) / greatest(any_value(last_position) - 1, 1) AS d
  FROM passed
  GROUP BY q)
