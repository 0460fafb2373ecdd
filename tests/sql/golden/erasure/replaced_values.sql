-- title: The values of an original column that no longer occur in the column of the release
-- source: sqlmicro: what a release has suppressed or changed, and what must not be left elsewhere
-- reads: original, released
-- returns: value (as text, each once), distinctive (long enough not to be met by chance)
-- params: original, released, column (of the original), released_column, kind (type to compare them in), least (bytes)
SELECT DISTINCT
  CAST(o."name" AS VARCHAR) AS value,
  octet_length(encode(CAST(o."name" AS VARCHAR))) >= 6 AS distinctive
FROM "staging"."original" AS o
ANTI JOIN "staging"."released" AS r
  ON CAST(r."nom" AS VARCHAR) = CAST(o."name" AS VARCHAR)
WHERE o."name" IS NOT NULL
