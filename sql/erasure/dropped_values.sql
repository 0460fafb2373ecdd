-- title: The values of an original column that the release does not have
-- source: sqlmicro: as replaced_values.sql, for a column that was left out
-- reads: original
-- returns: value (as text, each once), distinctive (long enough not to be met by chance)
-- params: original, column, least (bytes)
SELECT DISTINCT
  CAST({{ column | ident }} AS VARCHAR) AS value,
  octet_length(encode(CAST({{ column | ident }} AS VARCHAR))) >= {{ least | lit }} AS distinctive
FROM {{ original | ident }}
WHERE {{ column | ident }} IS NOT NULL
