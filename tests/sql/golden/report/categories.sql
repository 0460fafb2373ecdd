-- title: The values of every nominal column that are frequent before and after, and how many records have others
-- source: sqlmicro: a value that fewer than k records have in either file never leaves the database
-- reads: original, released (values)
-- returns: column_name, place (by frequency; most + 1 stands for all others), value (NULL for these, and where it is
--   missing), before, after
-- params: original, released, columns, k, most
SELECT
  'g' AS column_name,
  place,
  CASE WHEN place <= 3 THEN decode(min(value)) END AS value,
  CAST(sum(before) AS BIGINT) AS before,
  CAST(sum(after) AS BIGINT) AS after
FROM (
  SELECT
    value,
    before,
    after,
    CASE WHEN least(before, after) >= 2
      THEN least(position, 3 + 1) ELSE 3 + 1 END AS place
  FROM (
    SELECT
      "g" AS value,
      sum(before) AS before,
      sum(after) AS after,
      row_number() OVER (
        ORDER BY least(sum(before), sum(after)) >= 2 DESC, sum(before) + sum(after) DESC, "g"
      ) AS position
    FROM (
      SELECT "g", 1 AS before, 0 AS after FROM "staging"."original"
      UNION ALL
      SELECT "g", 0, 1 FROM "staging"."released")
    GROUP BY "g"))
GROUP BY place
