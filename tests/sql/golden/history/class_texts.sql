-- title: The values of the classes that a series opens tonight, as texts that give the same values again
-- source: sqlmicro; days and microseconds are whole, as they are published
-- reads: representatives (label, the columns)
-- returns: column_name, class, value
-- params: representatives, columns, whole (those of days and microseconds)
SELECT '' AS column_name, CAST(label AS INTEGER) AS class, '' AS value
FROM "staging"."representatives"
WHERE false
UNION ALL
SELECT 'net "income"', CAST(label AS INTEGER), CAST("c1" AS VARCHAR)
FROM "staging"."representatives"
UNION ALL
SELECT 'sex', CAST(label AS INTEGER), CAST("c2" AS VARCHAR)
FROM "staging"."representatives"
UNION ALL
SELECT 'day', CAST(label AS INTEGER), CAST(round_even("day", 0) AS VARCHAR)
FROM "staging"."representatives"
