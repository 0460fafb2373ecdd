-- title: The ends of every value as they are, the characters between them hidden
-- source: sqlmicro; a value that has no more characters than are shown is hidden altogether
-- reads: relation
-- returns: row_id, the columns as text
-- params: relation, columns, first_shown, last_shown, character
SELECT
  row_id
  , CASE WHEN length(CAST("town" AS VARCHAR)) <= 1 + 2
      THEN repeat('''', length(CAST("town" AS VARCHAR)))
      ELSE left(CAST("town" AS VARCHAR), 1)
        || repeat('''',
          length(CAST("town" AS VARCHAR)) - 1 - 2)
        || right(CAST("town" AS VARCHAR), 2)
    END AS "town"
  , CASE WHEN length(CAST("net ""income""" AS VARCHAR)) <= 1 + 2
      THEN repeat('''', length(CAST("net ""income""" AS VARCHAR)))
      ELSE left(CAST("net ""income""" AS VARCHAR), 1)
        || repeat('''',
          length(CAST("net ""income""" AS VARCHAR)) - 1 - 2)
        || right(CAST("net ""income""" AS VARCHAR), 2)
    END AS "net ""income"""
FROM "staging"."typed"
