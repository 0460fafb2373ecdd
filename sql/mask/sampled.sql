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
      PARTITION BY {{ by | listed("d.{}, ") }}true ORDER BY d.draw_1, d.row_id) AS position
  FROM {{ drawn | ident }} AS d
  JOIN {{ sizes | ident }} AS s
    ON {{ by | same("d", "s") }} AND
    d.draw_1 < s.high
)
SELECT
  row_id,
  records / size AS {{ weight | ident }}
FROM placed
WHERE position <= size
