-- title: The share every sensitive value has in its class and in the table that classes are compared with
-- source: Li, Li & Venkatasubramanian (2007): what a class tells beyond what the whole table tells
-- reads: members, reference
-- returns: the columns, the sensitive column, records, probability (share in the class), share (in the whole table)
-- params: members, reference, columns, value
SELECT
  m."a",
  m."v",
  m.records,
  m.size / sum(m.size) OVER (PARTITION BY m."a") AS probability,
  r.share
FROM "staging"."members" AS m
JOIN "staging"."reference" AS r ON m."v" IS NOT DISTINCT FROM r."v"
