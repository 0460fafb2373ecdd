-- title: The released values of the records that are tried
-- source: sqlmicro
-- reads: original (values of the records that are tried, by row_id), released (values, by row_id)
-- returns: row_id, the columns as they were released; records that were not released are left out
-- params: original, released, columns
SELECT
  o.row_id,
  {{ columns | listed("r.{}") }}
FROM {{ released | ident }} AS r
JOIN {{ original | ident }} AS o USING (row_id)
