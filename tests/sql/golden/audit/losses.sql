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
  , coalesce(sum((CAST(o."x" AS DOUBLE) - CAST(r."x" AS DOUBLE)) ** 2), 0)
    + coalesce(count(o."x") FILTER (WHERE r.row_id IS NOT NULL AND r."x" IS NULL) * (
      var_pop(CAST(o."x" AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL AND r."x" IS NULL)
      + (avg(CAST(o."x" AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL AND r."x" IS NULL)
        - avg(CAST(o."x" AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL)) ** 2), 0) AS sse_1
  , coalesce(var_samp(CAST(o."x" AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL)
      * (count(o."x") FILTER (WHERE r.row_id IS NOT NULL) - 1), 0) AS sst_1
  , coalesce(sum((CAST(o."net ""income""" AS DOUBLE) - CAST(r."net ""income""" AS DOUBLE)) ** 2), 0)
    + coalesce(count(o."net ""income""") FILTER (WHERE r.row_id IS NOT NULL AND r."net ""income""" IS NULL) * (
      var_pop(CAST(o."net ""income""" AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL AND r."net ""income""" IS NULL)
      + (avg(CAST(o."net ""income""" AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL AND r."net ""income""" IS NULL)
        - avg(CAST(o."net ""income""" AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL)) ** 2), 0) AS sse_2
  , coalesce(var_samp(CAST(o."net ""income""" AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL)
      * (count(o."net ""income""") FILTER (WHERE r.row_id IS NOT NULL) - 1), 0) AS sst_2
  , coalesce(sum((CAST(o."size_" AS DOUBLE) - CAST(r."size_" AS DOUBLE)) ** 2), 0)
    + coalesce(count(o."size_") FILTER (WHERE r.row_id IS NOT NULL AND r."size_" IS NULL) * (
      var_pop(CAST(o."size_" AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL AND r."size_" IS NULL)
      + (avg(CAST(o."size_" AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL AND r."size_" IS NULL)
        - avg(CAST(o."size_" AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL)) ** 2), 0) AS sse_3
  , coalesce(var_samp(CAST(o."size_" AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL)
      * (count(o."size_") FILTER (WHERE r.row_id IS NOT NULL) - 1), 0) AS sst_3
  , coalesce(sum((CAST(o."empty" AS DOUBLE) - CAST(r."empty" AS DOUBLE)) ** 2), 0)
    + coalesce(count(o."empty") FILTER (WHERE r.row_id IS NOT NULL AND r."empty" IS NULL) * (
      var_pop(CAST(o."empty" AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL AND r."empty" IS NULL)
      + (avg(CAST(o."empty" AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL AND r."empty" IS NULL)
        - avg(CAST(o."empty" AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL)) ** 2), 0) AS sse_4
  , coalesce(var_samp(CAST(o."empty" AS DOUBLE)) FILTER (WHERE r.row_id IS NOT NULL)
      * (count(o."empty") FILTER (WHERE r.row_id IS NOT NULL) - 1), 0) AS sst_4
FROM "staging"."typed" AS o
LEFT JOIN "staging"."released" AS r USING (row_id)
