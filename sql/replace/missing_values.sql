-- title: How many values of each column are missing before and after, and how many were filled in or taken out
-- source: sqlmicro
-- reads: before, after (both by row_id; records may have been left out of the second)
-- returns: one row: records_before, records_after; for the i-th column before_i, after_i, filled_in_i, taken_out_i
-- params: before, after, columns
SELECT
  count(*) AS records_before,
  count(r.row_id) AS records_after
{% for column in columns %}
  , count(*) FILTER (WHERE o.{{ column | ident }} IS NULL) AS before_{{ loop.index }}
  , count(r.row_id) FILTER (WHERE r.{{ column | ident }} IS NULL) AS after_{{ loop.index }}
  , count(*) FILTER (WHERE o.{{ column | ident }} IS NULL AND r.{{ column | ident }} IS NOT NULL) AS filled_in_{{ loop.index }}
  , count(r.row_id) FILTER (WHERE o.{{ column | ident }} IS NOT NULL AND r.{{ column | ident }} IS NULL)
    AS taken_out_{{ loop.index }}
{% endfor %}
FROM {{ before | ident }} AS o
LEFT JOIN {{ after | ident }} AS r USING (row_id)
