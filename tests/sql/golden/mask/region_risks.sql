-- title: How rare the members of every household are in their region, level by level
-- source: Gussenbauer, sdcMicro: targeted record swapping; the risk of a person is 1 over the number of
--   persons of the region with the same values of the risk columns, that of a household the largest of its members
-- reads: relation (the records), members (row_id, unit)
-- returns: in the order of row_id (that of the unit): row_id, risk_1, risk_2, … from the largest regions to the smallest
-- params: relation, members, levels (of each: the risk columns, and those of the regions down to it)
WITH counted AS (
  SELECT
    m.unit
    , 1 / count(*) OVER (PARTITION BY r."town", r."l") AS risk_1
    , 1 / count(*) OVER (PARTITION BY r."town", r."l", r."s") AS risk_2
  FROM "staging"."records" AS r
  JOIN "staging"."members" AS m USING (row_id)
)
SELECT
  unit AS row_id
  , max(risk_1) AS risk_1
  , max(risk_2) AS risk_2
FROM counted
GROUP BY unit
ORDER BY unit
