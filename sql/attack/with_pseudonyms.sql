-- title: The records of an original that are released, with the pseudonyms they are released with
-- source: sqlmicro: whoever attacks a release with its original in hand has to be told whether the person found is the one
-- reads: original, released
-- returns: columns (of the original), pseudonyms (as text)
-- params: original, released, columns, pseudonyms
SELECT
{% for column in columns %}
  o.{{ column | ident }},
{% endfor %}
{% for column in pseudonyms %}
  CAST(r.{{ column | ident }} AS VARCHAR) AS {{ column | ident }},
{% endfor %}
  1 AS n
FROM {{ original | ident }} AS o
JOIN {{ released | ident }} AS r ON o.row_id = r.row_id
