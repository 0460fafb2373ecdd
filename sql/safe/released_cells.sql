-- title: The one record that every member of a group becomes
-- source: Höhne, SAFE: unification, nominal columns by their mode, numeric ones by their mean
-- reads: means, modes (a relation per nominal column)
-- returns: label, the columns, n
-- params: means, modes (alias, relation, column), numeric
SELECT
  m.label
{% for alias, relation, column in modes %}
  , {{ alias | ident }}.{{ column | ident }}
{% endfor %}
{% for column in numeric %}
  , m.{{ column | ident }}
{% endfor %}
  , m.n
FROM {{ means | ident }} AS m
{% for alias, relation, column in modes %}
JOIN {{ relation | ident }} AS {{ alias | ident }} USING (label)
{% endfor %}
