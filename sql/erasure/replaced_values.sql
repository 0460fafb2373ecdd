-- title: The values of an original column that no longer occur in the column of the release
-- source: sqlmicro: what a release has suppressed or changed, and what must not be left elsewhere
-- reads: original, released
-- returns: value (as text, each once), distinctive (long enough not to be met by chance)
-- params: original, released, column (of the original), released_column, kind (type to compare them in), least (bytes)
SELECT DISTINCT
  CAST(o.{{ column | ident }} AS VARCHAR) AS value,
  octet_length(encode(CAST(o.{{ column | ident }} AS VARCHAR))) >= {{ least | lit }} AS distinctive
FROM {{ original | ident }} AS o
ANTI JOIN {{ released | ident }} AS r
  ON CAST(r.{{ released_column | ident }} AS {{ kind | sqltype }}) = CAST(o.{{ column | ident }} AS {{ kind | sqltype }})
WHERE o.{{ column | ident }} IS NOT NULL
