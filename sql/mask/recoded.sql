-- title: The records with the values of the chosen levels
-- source: Hundepool et al. (2012), global recoding
-- reads: relation, a ladder per recoded column
-- returns: row_id, the columns
-- params: relation, recoded (column, alias, ladder, level)
SELECT
  r.row_id
{% for column, alias, ladder, level in recoded %}
  , {{ alias | ident }}.{{ level | ident }} AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }} AS r
{% for column, alias, ladder, level in recoded %}
JOIN {{ ladder | ident }} AS {{ alias | ident }} ON {{ alias | ident }}.value IS NOT DISTINCT FROM r.{{ column | ident }}
{% endfor %}
