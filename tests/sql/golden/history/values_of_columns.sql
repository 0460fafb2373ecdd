-- title: The values of the classes that single columns of a series get tonight
-- source: sqlmicro; as history/classes_of_columns.sql
-- reads: cohort (row, stratum, the columns as texts)
-- returns: column_name, class, value
-- params: cohort, columns
SELECT 'net "income"' AS column_name, min(row) AS class, value
FROM (SELECT row, stratum, "c1" AS value FROM "staging"."cohort")
GROUP BY stratum, value
UNION ALL
SELECT 'sex' AS column_name, min(row) AS class, value
FROM (SELECT row, stratum, "c2" AS value FROM "staging"."cohort")
GROUP BY stratum, value
