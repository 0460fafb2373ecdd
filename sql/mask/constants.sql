-- title: The same value for every record
-- source: sqlmicro
-- reads: relation
-- returns: row_id, the columns
-- params: relation, columns (with the type that each becomes), value
SELECT
  row_id
{% for column, kind in columns %}
  , CAST({{ value | lit }} AS {{ kind | sqltype }}) AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }}
