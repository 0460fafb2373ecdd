-- title: The record of every group that is nearest to all its records in the nominal columns
-- source: Höhne, SAFE: unification. Nearest is the cell that agrees with the most values of the group, columns added up;
--   of equally near ones the lowest; NULL is a value of its own
-- reads: cells, members
-- returns: label, the columns
-- params: cells, members, columns
SELECT
  label
  , "sex"
  , "land"
FROM (
  SELECT
    m.label,
    c.cell,
    c."sex",
    c."land",
    0
    + sum(m.n) OVER (PARTITION BY m.label, c."sex")
    + sum(m.n) OVER (PARTITION BY m.label, c."land")
    AS n
  FROM "staging"."members" AS m
  JOIN "staging"."cells" AS c USING (cell))
QUALIFY row_number() OVER (PARTITION BY label ORDER BY n DESC, cell) = 1
