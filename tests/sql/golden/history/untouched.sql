-- title: Who sits in a class of a series, and whose row is as it was read
-- source: sqlmicro; few differ, so that it costs little to leave them out again wherever the others are needed
-- reads: people (who, seat, here, changed, token), differing (who)
-- returns: who, seat, changed, token
-- params: people, differing
SELECT who, seat, changed, token
FROM "staging"."people"
ANTI JOIN (SELECT who FROM "staging"."differing") AS d USING (who)
WHERE here AND seat >= 0
