-- title: What became of the values: how far numbers are from the original ones, how many others were changed, and how
--   many of each column are missing, were filled in or taken out
-- source: Domingo-Ferrer & Mateo-Sanz (2002): IL = 100 SSE/SST; a value that is missing in the release counts as replaced
--   by the mean of its column: all of it is lost. A record that was left out counts in no loss
-- reads: original, and the release by row_id: one of `aligned`, which has the same records in the same order, or of `joined`
-- returns: one row: records_before, records_after; for the i-th numeric column sse_i and sst_i (n - 1 times the variance
--   of the original), for the i-th whole one, in which nothing is missing, whole_sse_i and whole_sst_i, for the i-th
--   nominal one changed_i, for the i-th nominal one that became text changed_in_words_i, for the i-th counted one before_i,
--   after_i, filled_in_i, taken_out_i
-- params: original, aligned, joined (lists of one, or none), numeric, whole, nominal, in_words, counted
SELECT
  count(*) AS records_before,
  count(r.row_id) AS records_after
{% for column in numeric %}
  , coalesce(sum((CAST(o.{{ column | ident }} AS DOUBLE) - CAST(r.{{ column | ident }} AS DOUBLE)) ** 2), 0)
    + coalesce(count(o.{{ column | ident }}) FILTER (WHERE r.row_id IS NOT NULL AND r.{{ column | ident }} IS NULL) * (
      var_pop(CAST(o.{{ column | ident }} AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL AND r.{{ column | ident }} IS NULL)
      + (avg(CAST(o.{{ column | ident }} AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL AND r.{{ column | ident }} IS NULL)
        - avg(CAST(o.{{ column | ident }} AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL)) ** 2), 0) AS sse_{{ loop.index }}
  , coalesce(var_samp(CAST(o.{{ column | ident }} AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL)
      * (count(o.{{ column | ident }}) FILTER (WHERE r.row_id IS NOT NULL) - 1), 0) AS sst_{{ loop.index }}
{% endfor %}
{% for column in whole %}
  , sum((CAST(o.{{ column | ident }} AS DOUBLE) - CAST(r.{{ column | ident }} AS DOUBLE))
    * (CAST(o.{{ column | ident }} AS DOUBLE) - CAST(r.{{ column | ident }} AS DOUBLE))) AS whole_sse_{{ loop.index }}
  , var_samp(CAST(o.{{ column | ident }} AS DOUBLE)) * (count(*) - 1) AS whole_sst_{{ loop.index }}
{% endfor %}
{% for column in nominal %}
  , count(*) FILTER (WHERE r.row_id IS NOT NULL AND o.{{ column | ident }} IS DISTINCT FROM r.{{ column | ident }})
    AS changed_{{ loop.index }}
{% endfor %}
{% for column in in_words %}
  , count(*) FILTER (WHERE r.row_id IS NOT NULL
    AND CAST(o.{{ column | ident }} AS VARCHAR) IS DISTINCT FROM r.{{ column | ident }}) AS changed_in_words_{{ loop.index }}
{% endfor %}
{% for column in counted %}
  , count(*) FILTER (WHERE o.{{ column | ident }} IS NULL) AS before_{{ loop.index }}
  , count(r.row_id) FILTER (WHERE r.{{ column | ident }} IS NULL) AS after_{{ loop.index }}
  , count(*) FILTER (WHERE o.{{ column | ident }} IS NULL AND r.{{ column | ident }} IS NOT NULL) AS filled_in_{{ loop.index }}
  , count(r.row_id) FILTER (WHERE o.{{ column | ident }} IS NOT NULL AND r.{{ column | ident }} IS NULL)
    AS taken_out_{{ loop.index }}
{% endfor %}
FROM {{ original | ident }} AS o
{% for relation in aligned %}
POSITIONAL JOIN {{ relation | ident }} AS r
{% endfor %}
{% for relation in joined %}
LEFT JOIN {{ relation | ident }} AS r USING (row_id)
{% endfor %}
