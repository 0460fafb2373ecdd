-- title: One record for every unit, such as a household or a person
-- source: sqlmicro: what is constant within the unit as it is; of another column the mean, or the middle value, which
--   only tells near units from distant ones. The values are added in ascending order, so that a mean does not depend on
--   the number of threads
-- reads: relation, members (row_id, unit)
-- returns: row_id (that of the unit), record, the columns
-- params: relation, members, constant, numeric, others
SELECT
  m.unit AS row_id,
  min(r.record) AS record
{% for column in constant %}
  , min(r.{{ column | ident }}) AS {{ column | ident }}
{% endfor %}
{% for column in numeric %}
  , list_sum(list_sort(list(CAST(r.{{ column | ident }} AS DOUBLE)) FILTER (WHERE r.{{ column | ident }} IS NOT NULL)))
      / count(r.{{ column | ident }}) AS {{ column | ident }}
{% endfor %}
{% for column in others %}
  , list_sort(list(r.{{ column | ident }}) FILTER (WHERE r.{{ column | ident }} IS NOT NULL))
      [nullif((count(r.{{ column | ident }}) + 1) // 2, 0)] AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }} AS r
JOIN {{ members | ident }} AS m USING (row_id)
GROUP BY m.unit
