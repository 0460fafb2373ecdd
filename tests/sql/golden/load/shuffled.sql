-- title: The records in an order that says nothing
-- source: sqlmicro: record is a hash of what identifies it. Ties in a method go by this order: that of the user's table,
--   which may say who came when, is forgotten here. What a method sorts by can come first, so that it has no sort of its own
-- reads: relation
-- returns: the columns of relation
-- order: the columns given; read by position, when the records are numbered
-- params: relation, order (columns: what a method sorts by, if any, record where that leaves ties, key_0 where there is one)
SELECT *
FROM "staging"."typed"
ORDER BY "record"
