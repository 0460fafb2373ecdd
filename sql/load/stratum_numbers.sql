-- title: The stratum of every record as a number
-- source: sqlmicro
-- reads: relation
-- returns: stratum (from 0), in the order of row_id
-- params: relation, by
SELECT
  dense_rank() OVER (ORDER BY {{ by | idents }}) - 1 AS stratum
FROM {{ relation | ident }}
ORDER BY row_id
