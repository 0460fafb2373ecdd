"""Join the persons and visits of ../star_schema: a row for every visit, with columns of its person. No one exists.

python make_visits.py FOLDER writes FOLDER/visits.parquet
"""

import sys
from pathlib import Path

import duckdb

TABLES = Path(__file__).parent.parent / "star_schema"
JOINED = f"""
SELECT v.visit_id, v.patient_id, p.name, p.sex, CAST(year(p.born) // 10 * 10 AS INTEGER) AS decade,
  CAST(p.zip AS INTEGER) // 100 AS region, v.diagnosis, v.cost
FROM read_csv('{TABLES}/visits.csv') AS v
JOIN read_csv('{TABLES}/persons.csv') AS p ON v.patient_id = p.person_id
ORDER BY v.visit_id"""

if __name__ == "__main__":
    duckdb.execute(f"COPY ({JOINED}) TO '{Path(sys.argv[1]) / 'visits.parquet'}' (FORMAT parquet)")
