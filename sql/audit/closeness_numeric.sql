-- title: How far the distribution of a numeric sensitive column in each class is from that of the release
-- source: Li, Li & Venkatasubramanian (2007): t-closeness, Earth Mover's Distance by rank: the sum over the m values of
--   the differences of the cumulated shares, divided by m - 1. Between two values of a class its cumulated share stays
--   (level), that of the release passes it once; NULL is taken as the largest value
-- reads: shares, reference
-- returns: the columns, records, measure
-- params: shares, reference, columns, value
WITH overall AS (
  SELECT *, sum(cumulated) OVER (ORDER BY position) AS total
  FROM (
    SELECT
      {{ value | ident }},
      row_number() OVER (ORDER BY {{ value | ident }} NULLS LAST) AS position,
      sum(share) OVER (ORDER BY {{ value | ident }} NULLS LAST) AS cumulated
    FROM {{ reference | ident }})),
extent AS (
  SELECT max(position) AS last_position, max(total) AS total
  FROM overall),
steps AS (
  SELECT
  {% for column in columns %}
    s.{{ column | ident }},
  {% endfor %}
    s.records,
    o.position - 1 AS low,
    o.total - o.cumulated AS low_total,
    row_number() OVER class = 1 AS is_first,
    sum(s.probability) OVER class AS level,
    coalesce(lead(o.position) OVER class - 1, extent.last_position) AS high,
    coalesce(lead(o.total - o.cumulated) OVER class, extent.total) AS high_total,
    extent.last_position
  FROM {{ shares | ident }} AS s
  JOIN overall AS o ON s.{{ value | ident }} IS NOT DISTINCT FROM o.{{ value | ident }}
  CROSS JOIN extent
  WINDOW class AS (
    PARTITION BY {{ columns | listed("s.{}") }} ORDER BY o.position)),
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
SELECT
  {{ columns | idents }},
  CAST(sum(records) AS BIGINT) AS records,
  sum(
    CASE WHEN is_first THEN low_total ELSE 0 END
    + (place - low) * level - (place_total - low_total)
    + (high_total - place_total) - (high - place) * level) / greatest(any_value(last_position) - 1, 1) AS measure
FROM passed
GROUP BY ALL
