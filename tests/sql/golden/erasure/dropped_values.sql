-- title: The values of an original column that the release does not have
-- source: sqlmicro: as replaced_values.sql, for a column that was left out
-- reads: original
-- returns: value (as text, each once), distinctive (long enough not to be met by chance)
-- params: original, column, least (bytes)
SELECT DISTINCT
  CAST("name" AS VARCHAR) AS value,
  octet_length(encode(CAST("name" AS VARCHAR))) >= 6 AS distinctive
FROM "staging"."original"
WHERE "name" IS NOT NULL
