-- title: The records of some strata as numbers, for a kernel
-- source: sqlmicro
-- reads: features (load/features.sql)
-- returns: in the order of row_id: row_id, stratum, the columns
-- params: features, columns, first (number of a stratum), after (that of the first one that is not read)
SELECT row_id, stratum{% for column in columns %}, {{ column | ident }}{% endfor %}

FROM {{ features | ident }}
WHERE stratum >= {{ first | lit }} AND stratum < {{ after | lit }}
ORDER BY row_id
