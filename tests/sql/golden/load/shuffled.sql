-- title: The records in an order that says nothing; the physical order of the result is its meaning
-- source: sqlmicro: record is a hash of what identifies it. Ties in a method go by this order: that of the user's table,
--   which may say who came when, is forgotten here
-- reads: relation
-- returns: the columns of relation
-- params: relation
SELECT *
FROM "staging"."typed"
ORDER BY record
