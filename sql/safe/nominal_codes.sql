-- title: The nominal values of combinations as numbers, to see which columns tell much of each other
-- source: sqlmicro; of more than so many combinations those with the smallest hashes, which is a sample
-- reads: cells
-- returns: in any order the nominal columns as numbers from 0; NULL is a value of its own
-- params: cells, nominal, most
SELECT
  {{ nominal | listed("dense_rank() OVER (ORDER BY {}) - 1 AS {}") }}
FROM (
  SELECT {{ nominal | idents }}
  FROM {{ cells | ident }}
  ORDER BY hash({{ nominal | idents }})
  LIMIT {{ most | lit }}
) AS sampled
