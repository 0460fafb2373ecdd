-- title: The records of the original that are tried, where they are too many
-- source: sqlmicro: drawn by a hash of their place, so that the same are tried each time
-- reads: nothing
-- returns: position, from 0
-- params: records, size
SELECT range AS position
FROM range(4)
ORDER BY sha256(concat('sample of an attack ', range)), range
LIMIT 2
