-- title: The person and the sensitive values of every record that was read, as numbers
-- source: sqlmicro: what classes must keep is about the values as they were read, whatever steps came before
-- reads: original (as it was loaded), relation (the records to be grouped)
-- returns: in the order of row_id: row_id, stays (whether the record is in relation), person (0 for all that lack a part of
--   the key: they are one person), every sensitive column by the place of its value from 0 (NULL is a value of its own, the last)
-- params: original, relation, persons (none, or the columns that say whose record it is), sensitive
SELECT
  o.row_id,
  r.row_id IS NOT NULL AS stays
{% for person in persons %}
  , CASE
    WHEN false{% for column in person %} OR o.{{ column | ident }} IS NULL{% endfor %} THEN 0
    ELSE dense_rank() OVER (ORDER BY {{ person | listed("o.{}") }})
  END AS person
{% endfor %}
{% for column in sensitive %}
  , dense_rank() OVER (ORDER BY o.{{ column | ident }} NULLS LAST) - 1 AS {{ column | ident }}
{% endfor %}
FROM {{ original | ident }} AS o
LEFT JOIN {{ relation | ident }} AS r ON o.row_id = r.row_id
ORDER BY o.row_id
