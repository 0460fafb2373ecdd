-- title: The records that are drawn, without replacement
-- source: simple random sampling within strata (Cochran 1977): the records with the smallest random numbers; the weight
--   is the inverse of the inclusion probability, N_h/n_h
-- reads: drawn (with draw_1), sizes
-- returns: row_id, the weight
-- params: drawn, sizes, by, weight
WITH placed AS (
  SELECT
    d.row_id,
    s.records,
    s.size,
    row_number() OVER (
      PARTITION BY d."land", true ORDER BY d.draw_1, d.row_id) AS position
  FROM "staging"."drawn" AS d
  JOIN "staging"."sizes" AS s
    ON d."land" IS NOT DISTINCT FROM s."land" AND
    d.draw_1 < s.high
)
SELECT
  row_id,
  records / size AS "w"
FROM placed
WHERE position <= size
