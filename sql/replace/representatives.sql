-- title: The representative of every group: means, and the values taken column by column
-- source: Domingo-Ferrer & Torra (2005)
-- reads: means, others (a relation per ordinal or nominal column)
-- returns: label, the columns
-- params: means, numeric, others (alias, relation, column)
SELECT
  m.label
{% for column in numeric %}
  , m.{{ column | ident }}
{% endfor %}
{% for alias, relation, column in others %}
  , {{ alias | ident }}.{{ column | ident }}
{% endfor %}
FROM {{ means | ident }} AS m
{% for alias, relation, column in others %}
JOIN {{ relation | ident }} AS {{ alias | ident }} USING (label)
{% endfor %}
