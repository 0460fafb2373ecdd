-- title: The records that are known in all columns, where every tail that they are in has k records
-- source: sqlmicro
-- reads: relation, a relation per column (row_id, in_tail, n)
-- returns: row_id
-- params: relation, tails (alias, relation), k
SELECT r.row_id
FROM {{ relation | ident }} AS r
{% for alias, tail in tails %}
JOIN {{ tail | ident }} AS {{ alias | ident }}
  ON {{ alias | ident }}.row_id = r.row_id AND (NOT {{ alias | ident }}.in_tail OR {{ alias | ident }}.n >= {{ k | lit }})
{% endfor %}
