-- title: The combinations that occur, every value by its number on each level
-- source: Samarati (2001); El Emam et al. (2009)
-- reads: cells, a ladder per column
-- returns: n, and per column and level its code and share
-- params: cells, ladders (alias, relation, column), levels (alias, its name there, its name here)
SELECT
  c.n
{% for alias, theirs, ours in levels %}
  , {{ alias | ident }}.{{ theirs | ident }} AS {{ ours | ident }}
{% endfor %}
FROM {{ cells | ident }} AS c
{% for alias, relation, column in ladders %}
JOIN {{ relation | ident }} AS {{ alias | ident }} ON {{ alias | ident }}.value IS NOT DISTINCT FROM c.{{ column | ident }}
{% endfor %}
