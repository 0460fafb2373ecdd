-- title: Numbers that may stand for a missing value: usual codes that two rows or more have, far from all other values
-- source: sqlmicro
-- reads: relation
-- returns: place (of the column, from 1), code, rows; a negative code where all other values are 0 or more, another one
--   where all are below its half
-- params: relation, columns (of numbers), codes
SELECT place, CAST(code AS BIGINT) AS code, rows
FROM (
  SELECT
    *,
    min(smallest) FILTER (WHERE code IS NULL) OVER (PARTITION BY place) AS least,
    max(largest) FILTER (WHERE code IS NULL) OVER (PARTITION BY place) AS most
  FROM (
    SELECT
      place,
      CASE WHEN list_contains({{ codes | lit }}, value) THEN value END AS code,
      count(*) AS rows,
      min(value) AS smallest,
      max(value) AS largest
    FROM (
      SELECT
        generate_subscripts([{{ columns | listed("CAST(r.{name} AS DOUBLE)") }}], 1) AS place,
        unnest([{{ columns | listed("CAST(r.{name} AS DOUBLE)") }}]) AS value
      FROM {{ relation | ident }} AS r)
    WHERE value IS NOT NULL
    GROUP BY ALL))
WHERE rows > 1 AND CASE WHEN code < 0 THEN least >= 0 ELSE 2 * most < code END
ORDER BY place, code
