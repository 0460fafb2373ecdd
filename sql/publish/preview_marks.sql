-- title: What has become of every value of some records of a release
-- source: sqlmicro: it tells whether a value was changed, never what it was; of numbers by value, of text by its text
-- reads: original, preview (both by row_id)
-- returns: size; a mark for every column (unchanged, changed, suppressed), in the order of the release
-- params: original, preview, numbers, others
SELECT
  p.size
{% for column in numbers %}
  , CASE WHEN p.{{ column | ident }} IS NOT DISTINCT FROM o.{{ column | ident }} THEN 'unchanged'
      WHEN p.{{ column | ident }} IS NULL THEN 'suppressed' ELSE 'changed' END AS number_{{ loop.index }}
{% endfor %}
{% for column in others %}
  , CASE WHEN CAST(p.{{ column | ident }} AS VARCHAR) IS NOT DISTINCT FROM CAST(o.{{ column | ident }} AS VARCHAR) THEN 'unchanged'
      WHEN p.{{ column | ident }} IS NULL THEN 'suppressed' ELSE 'changed' END AS other_{{ loop.index }}
{% endfor %}
FROM {{ original | ident }} AS o
JOIN {{ preview | ident }} AS p USING (row_id)
ORDER BY {{ "sqlmicro_order" | draw("row_id") }}
