-- title: The columns of a release under the names they have in staging
-- source: sqlmicro
-- reads: relation (the user's table)
-- returns: the columns
-- params: relation, columns
SELECT
{% for column in columns %}
  {{ column.name | ident }} AS {{ column | ident }}{% if not loop.last %},{% endif +%}
{% endfor %}
FROM {{ relation | ident }}
