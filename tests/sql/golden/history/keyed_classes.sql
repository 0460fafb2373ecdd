-- title: The classes of every person of several tables that have a key in common
-- source: sqlmicro: what an auditor sees who has the releases and no ledger. Told apart is the text of the values
-- reads: the relations
-- returns: release, who, class, value (0: nobody knows what was averaged); each once
-- params: tables (number, relation, key, columns of each)
SELECT DISTINCT
  0 AS release,
  CAST(hash(encode(CAST("id" AS VARCHAR)), true) >> 1 AS BIGINT) AS who,
  CAST(hash(encode(CAST("net ""income""" AS VARCHAR)), true) >> 1 AS BIGINT)
    AS class,
  0 AS value
FROM "staging"."first"
UNION ALL
SELECT DISTINCT
  2 AS release,
  CAST(hash(encode(CAST("id" AS VARCHAR)), true) >> 1 AS BIGINT) AS who,
  CAST(hash(encode(CAST("size" AS VARCHAR)), true) >> 1 AS BIGINT)
    AS class,
  0 AS value
FROM "staging"."second"
