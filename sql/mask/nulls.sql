-- title: No value for any record
-- source: sqlmicro: NULL of the column's own type, which a bare NULL does not have
-- reads: relation
-- returns: row_id, the columns
-- params: relation, columns
SELECT
  row_id
{% for column in columns %}
  , CASE WHEN false THEN {{ column | ident }} END AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }}
