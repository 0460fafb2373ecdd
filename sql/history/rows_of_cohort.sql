-- title: The rows that come into the release of a series tonight, as texts that give the same values again
-- source: sqlmicro
-- reads: relation, cohort (row_id, row), and the relations that carry new values by row_id
-- returns: row, stratum (a hash), the columns
-- params: relation, cohort, by, columns (the column, where it comes from, its name there), joined (alias, relation)
SELECT
  n.row,
  hash(0{% for column in by %}, CAST(r.{{ column | ident }} AS VARCHAR){% endfor %}) AS stratum
{% for column, alias, name in columns %}
  , CAST({{ alias | ident }}.{{ name | ident }} AS VARCHAR) AS {{ column | ident }}
{% endfor %}
FROM {{ cohort | ident }} AS n
JOIN {{ relation | ident }} AS r ON n.row_id = r.row_id
{% for alias, replaced in joined %}
LEFT JOIN {{ replaced | ident }} AS {{ alias | ident }} ON n.row_id = {{ alias | ident }}.row_id
{% endfor %}
