-- title: The one record that every member of a placed group becomes
-- source: SAFE by direct search: a group takes the values of an occurring combination, and the mean of its members in the
--   columns that are not part of a combination
-- reads: cells, placed, means
-- returns: label, the columns, n
-- params: cells, placed, means, own, averaged
SELECT
  p.label
{% for column in own %}
  , c.{{ column | ident }}
{% endfor %}
{% for column in averaged %}
  , m.{{ column | ident }}
{% endfor %}
  , m.n
FROM {{ placed | ident }} AS p
JOIN {{ cells | ident }} AS c USING (cell)
JOIN {{ means | ident }} AS m USING (label)
