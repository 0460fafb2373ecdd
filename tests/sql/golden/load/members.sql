-- title: The unit that every record belongs to, such as its household or its person
-- source: sqlmicro: the values of a unit are grouped once and written to all its records. A record that says nothing of
--   its household is one of its person, one that says nothing of either stands alone; all such units count as one
-- reads: relation (as it was loaded)
-- returns: row_id, unit (the smallest row_id of it), counted (the number it counts as: unit, or -1)
-- params: relation, key (of the unit), keys (the same, and those of the units below: the columns that must be known,
--   and those that tell the units apart), persons (none, or the columns that say whose record it is: a unit of nobody counts as unknown)
SELECT
  row_id,
  CASE
    WHEN "h" IS NOT NULL AND true
      THEN min(row_id) OVER (PARTITION BY "h")
    WHEN "p" IS NOT NULL AND true
      THEN min(row_id) OVER (PARTITION BY "h", "p")
    ELSE row_id
  END AS unit,
  CASE
    WHEN ("h" IS NOT NULL AND true)
      AND bool_or("p" IS NOT NULL AND true)
        OVER (PARTITION BY "h")
      THEN min(row_id) OVER (PARTITION BY "h")
    ELSE -1
  END AS counted
FROM "staging"."original"
