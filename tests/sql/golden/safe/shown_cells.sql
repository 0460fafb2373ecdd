-- title: The combinations that the nights of a series have shown so far, in the form the methods work on
-- source: sqlmicro; dates become day numbers and timestamps microseconds again, as in load/typed.sql
-- reads: texts (class, column_name, value as text), numbers (class, cell, n)
-- returns: cell, the columns, n (rows in the last night)
-- params: texts, numbers, columns (name in staging, type), dates, timestamps (likewise, with their own types)
SELECT
  s.cell
  , CAST(max(t.value) FILTER (WHERE t.column_name = 'sex') AS VARCHAR) AS "sex"
  , CAST(max(t.value) FILTER (WHERE t.column_name = 'x') AS DOUBLE) AS "x"
  , CAST(CAST(max(t.value) FILTER (WHERE t.column_name = 'born') AS DATE) - DATE '1970-01-01' AS DOUBLE) AS "born"
  , CAST(epoch_us(CAST(max(t.value) FILTER (WHERE t.column_name = 'at') AS TIMESTAMP WITH TIME ZONE)) AS DOUBLE) AS "at"
  , s.n
FROM "staging"."numbers" AS s
JOIN "staging"."texts" AS t USING (class)
GROUP BY s.cell, s.n
