-- title: The one record that every member of a group becomes
-- source: Höhne, SAFE: unification, nominal columns by their mode or medoid, numeric ones by their mean or median
-- reads: means, and the relations that carry the other columns by label
-- returns: label, the columns, n
-- params: means, columns (alias, column; m is the alias of means), joined (alias, relation)
SELECT
  m.label
{% for alias, column in columns %}
  , {{ alias | ident }}.{{ column | ident }}
{% endfor %}
  , m.n
FROM {{ means | ident }} AS m
{% for alias, relation in joined %}
JOIN {{ relation | ident }} AS {{ alias | ident }} USING (label)
{% endfor %}
