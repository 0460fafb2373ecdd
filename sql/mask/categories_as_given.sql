-- title: The categories a matrix names, numbered, with the number of records that have them
-- source: sqlmicro
-- reads: relation
-- returns: label (from 1, in the order of names), value (NULL for a name that the type does not have), records
-- params: relation, column, names, type
WITH given AS (
  SELECT
    unnest(range(1, len({{ names | lit }}) + 1)) AS label,
    TRY_CAST(unnest({{ names | lit }}) AS {{ type | sqltype }}) AS value
)
SELECT
  g.label,
  g.value,
  count(r.{{ column | ident }}) AS records
FROM given AS g
LEFT JOIN {{ relation | ident }} AS r ON r.{{ column | ident }} = g.value
GROUP BY ALL
