-- title: The records of some strata as numbers, for a kernel
-- source: sqlmicro
-- reads: features (load/features.sql)
-- returns: in the order of row_id: row_id, stratum, the columns
-- params: features, columns, first (number of a stratum), after (that of the first one that is not read)
SELECT row_id, stratum, "net ""income""", "x"
FROM "staging"."features"
WHERE stratum >= 1 AND stratum < 3
ORDER BY row_id
