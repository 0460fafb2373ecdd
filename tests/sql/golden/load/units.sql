-- title: One record for every unit, such as a household or a person
-- source: sqlmicro: what is constant within the unit as it is; of another column the mean, or the middle value, which
--   only tells near units from distant ones. The values are added in ascending order, so that a mean does not depend on
--   the number of threads
-- reads: relation, members (row_id, unit)
-- returns: row_id (that of the unit), record, the columns
-- params: relation, members, constant, numeric, others
SELECT
  m.unit AS row_id,
  min(r.record) AS record
  , min(r."x") AS "x"
  , min(r."k") AS "k"
  , list_sum(list_sort(list(CAST(r."y" AS DOUBLE)) FILTER (WHERE r."y" IS NOT NULL)))
      / count(r."y") AS "y"
  , list_sort(list(r."t") FILTER (WHERE r."t" IS NOT NULL))
      [nullif((count(r."t") + 1) // 2, 0)] AS "t"
FROM "staging"."relation" AS r
JOIN "staging"."members" AS m USING (row_id)
GROUP BY m.unit
