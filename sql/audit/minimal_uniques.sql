-- title: The combinations of one number of columns in which a record of the release is unique, and in no part of them
-- source: Elliot, Manning & Ford (2002): minimal sample uniques: unique in these columns, not in fewer of them; NULL is a
--   value of its own
-- reads: units, smaller (minimal uniques of fewer columns)
-- returns: cell (number of a combination), bits (one for each column), n (how many columns)
-- params: units, smaller, number (of columns), subsets (the bits and the columns of each)
WITH uniques AS (
{% for bits, subset in subsets %}
  SELECT unnest(list(cell)) AS cell, {{ bits | lit }} AS bits
  FROM {{ units | ident }}
  GROUP BY {{ subset | idents }}
  HAVING max(records) = 1 AND min(owner) = max(owner)
  {{ loop | between("UNION ALL") }}
{% endfor %}
)
SELECT cell, bits, {{ number | lit }} AS n
FROM uniques AS u
WHERE true
{% for relation in smaller %}
  AND NOT EXISTS (FROM {{ relation | ident }} AS v WHERE v.cell = u.cell AND v.bits & u.bits = v.bits)
{% endfor %}
