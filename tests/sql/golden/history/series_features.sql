-- title: The records as numbers that mean the same in every night of a series
-- source: sqlmicro; a place in an order is that in the type, not that among tonight's values
-- reads: relation
-- returns: in the order of row_id: the numbers and places as DOUBLE, NULL where missing, and a hash of every category
-- params: relation, numbers, places (column, ENUM type), categories
SELECT
  row_id
  , CAST("c1" AS DOUBLE) AS "c1"
  , CAST(enum_code(CAST("c2" AS ENUM('low', 'mid', 'high'))) AS DOUBLE) AS "c2"
  , hash(coalesce('=' || CAST("c3" AS VARCHAR), '')) AS "c3"
FROM "staging"."relation"
ORDER BY row_id
