-- title: The values that occur in each of some columns
-- source: sqlmicro: an ENUM type lists all its labels, also of records that are not released
-- reads: relation
-- returns: number of the column, from 1; label
-- params: relation, columns
{% for column in columns %}
SELECT DISTINCT
  {{ loop.index }} AS number,
  CAST({{ column | ident }} AS VARCHAR) AS label
FROM {{ relation | ident }}
WHERE {{ column | ident }} IS NOT NULL
{{ loop | between("UNION ALL") }}
{% endfor %}
