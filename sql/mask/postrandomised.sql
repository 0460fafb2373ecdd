-- title: Every value changed at random, as its range of draws says
-- source: Kooiman, Willenborg & Gouweleeuw (1997), PRAM; the draws are 60 bits
-- reads: drawn (with draw_1), ranges
-- returns: row_id, value; records without a value are left out
-- params: drawn, ranges, column
SELECT
  d.row_id,
  r.target AS value
FROM {{ drawn | ident }} AS d
JOIN {{ ranges | ident }} AS r
  ON d.{{ column | ident }} = r.source AND d.draw_1 >> 52 = r.bin AND d.draw_1 >= r.low AND d.draw_1 < r.high
