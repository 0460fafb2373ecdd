-- title: The entropy of a sensitive column in each class, as a number of equally frequent values
-- source: Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007): entropy l-diversity, entropy >= log l
-- reads: members
-- returns: the columns, records, measure (the exponential of the entropy)
-- params: members, columns
SELECT
  "a",
  CAST(sum(records) AS BIGINT) AS records,
  greatest(exp(ln(sum(size)) - sum(size * ln(size)) / sum(size)), 1) AS measure
FROM "staging"."members"
GROUP BY ALL
