-- title: The values permuted among the records, within the given columns
-- source: Höhne's split groups; two random orders are laid side by side, which do not depend on threads and cannot be
--   repeated without the key
-- reads: relation (row_id, value), drawn (with draw_1, draw_2)
-- returns: row_id, value
-- params: relation, drawn, within
WITH seated AS (
  SELECT
    r.*,
    row_number() OVER (
      PARTITION BY {{ within | listed("r.{}, ") }}true ORDER BY d.draw_1, d.row_id) AS seat,
    row_number() OVER (
      PARTITION BY {{ within | listed("r.{}, ") }}true ORDER BY d.draw_2, d.row_id) AS draw
  FROM {{ relation | ident }} AS r
  JOIN {{ drawn | ident }} AS d USING (row_id)
)
SELECT
  a.row_id,
  b.value
FROM seated AS a
JOIN seated AS b
  ON {{ within | same("a", "b") }} AND a.seat = b.draw
