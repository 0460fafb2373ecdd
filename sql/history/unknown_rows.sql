-- title: The rows of a source that a night of a series has to read
-- source: sqlmicro
-- reads: differing (number)
-- returns: number
-- params: differing
SELECT number
FROM {{ differing | ident }}
WHERE number IS NOT NULL
