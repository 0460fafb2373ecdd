-- title: How many records of a control group are like exactly one of the original, and how many of the original
-- source: sqlmicro: people of the table are no control group; a record that is alone in the table is told by being in both
-- reads: original, control
-- returns: records (of the original), alone (of these, with a combination that no other has), in_pairs (that one other
--   has), control (records of the control group), found (of these, with a combination that one of the original has)
-- params: original, control, columns
WITH cells AS (
  SELECT
    "who" AS "who", "x" AS "x",
    count(*) FILTER (WHERE source = 0) AS before,
    count(*) FILTER (WHERE source = 1) AS after
  FROM (
    SELECT 0 AS source, CAST("who" AS VARCHAR) AS "who", CAST("x" AS VARCHAR) AS "x" FROM "staging"."original"
    UNION ALL
    SELECT 1, CAST("who" AS VARCHAR) AS "who", CAST("x" AS VARCHAR) AS "x" FROM "staging"."control"
  )
  GROUP BY "who", "x"
)
SELECT
  CAST(sum(before) AS BIGINT) AS records,
  count(*) FILTER (WHERE before = 1) AS alone,
  2 * count(*) FILTER (WHERE before = 2) AS in_pairs,
  CAST(sum(after) AS BIGINT) AS control,
  CAST(coalesce(sum(after) FILTER (WHERE before = 1), 0) AS BIGINT) AS found
FROM cells
