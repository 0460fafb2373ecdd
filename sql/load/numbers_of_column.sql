-- title: A column of the records as a number, for what it is standardised by
-- source: sqlmicro
-- reads: features (load/features.sql)
-- returns: the column, in the order of row_id: sums of floating point depend on it in their last digits
-- params: features, column
SELECT {{ column | ident }}
FROM {{ features | ident }}
ORDER BY row_id
