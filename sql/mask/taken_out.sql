-- title: The records, without the values of some columns where they are chosen
-- source: Templ, Kowarik & Meindl (2015), sdcMicro: local suppression by a threshold of the individual risk
-- reads: relation, chosen (row_id)
-- returns: the columns of relation
-- params: relation, chosen, columns, others
SELECT
  r.row_id,
  r.record
{% for column in columns %}
  , CASE WHEN c.row_id IS NULL THEN r.{{ column | ident }} END AS {{ column | ident }}
{% endfor %}
{% for column in others %}
  , r.{{ column | ident }}
{% endfor %}
FROM {{ relation | ident }} AS r
LEFT JOIN {{ chosen | ident }} AS c USING (row_id)
