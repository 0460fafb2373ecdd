"""Make the tables of this example: 240 invented patients in the OMOP Common Data Model. No one in it exists.

python make_tables.py
"""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path

FOLDER = Path(__file__).parent
PATIENTS = 240
VISITS = [9201, 9202, 9203]  # inpatient, outpatient, emergency room
CONDITIONS = [201826, 316866, 317009, 319835, 433740, 440383, 4112343, 437390, 77670, 378253]
RARE = [4024567, 435243, 4090207]  # a handful of patients each
DRUGS = [1503297, 1308216, 1332418, 1545958, 1124300, 1154343, 920293]
MEASURED = {3004410: (6.5, 1.4), 3025315: (78.0, 15.0), 3012888: (78.0, 11.0)}  # HbA1c, weight, diastolic pressure


def write(name: str, header: str, rows: list[list[object]]) -> None:
    """Write one table."""
    with (FOLDER / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header.split())
        writer.writerows(rows)


def persons() -> list[list[object]]:
    """Return the patients."""
    rows: list[list[object]] = []
    for number in range(PATIENTS):
        born = date(1938, 1, 1) + timedelta(days=random.randrange(24_000))
        gender, race = random.choice([8507, 8532]), random.choice([8527, 8527, 8527, 8516, 8515])
        rows.append(
            [41_000 + number, gender, born.year, born.month, born.day, race, f"MRN{random.randrange(10**8):08}"]
        )
    return rows


def visits() -> list[list[object]]:
    """Return the visits of three years: some patients come often."""
    rows: list[list[object]] = []
    for number in range(600):
        patient = 41_000 + int(PATIENTS * random.random() ** 1.5)
        start = date(2022, 1, 1) + timedelta(days=random.randrange(1_096))
        kind = random.choice(VISITS)
        end = start + timedelta(days=random.randrange(1, 15) if kind == 9201 else 0)
        rows.append([700_000 + number, patient, kind, start, end])
    return rows


def during(rows: list[list[object]]) -> tuple[object, object, date]:
    """Return the patient of a random visit, the visit, and one of its days."""
    visit, patient, _, start, end = random.choice(rows)
    assert isinstance(start, date)
    assert isinstance(end, date)
    return patient, visit, start + timedelta(days=random.randrange((end - start).days + 1))


def main() -> None:
    """Write the five tables."""
    random.seed(16)
    patients, came = persons(), visits()
    conditions: list[list[object]] = []
    drugs: list[list[object]] = []
    measurements: list[list[object]] = []
    for number in range(700):
        patient, visit, day = during(came)
        concept = random.choice(RARE) if random.random() < 0.01 else random.choice(CONDITIONS)
        conditions.append([number + 1, patient, concept, day, visit])
    for number in range(500):
        patient, visit, day = during(came)
        last = day + timedelta(days=random.choice([7, 14, 30, 90]))
        drugs.append([number + 1, patient, random.choice(DRUGS), day, last, visit if number % 9 else ""])
    for number in range(800):
        patient, visit, day = during(came)
        concept = random.choice(list(MEASURED))
        taken = datetime(day.year, day.month, day.day, random.randrange(6, 20), random.randrange(60))
        value = round(random.gauss(*MEASURED[concept]), 1)
        measurements.append([number + 1, patient, concept, day, taken, value, visit if number % 7 else ""])
    of_birth = "year_of_birth month_of_birth day_of_birth"
    write("person", f"person_id gender_concept_id {of_birth} race_concept_id person_source_value", patients)
    write("visit_occurrence", "visit_occurrence_id person_id visit_concept_id visit_start_date visit_end_date", came)
    of_condition = "condition_occurrence_id person_id condition_concept_id condition_start_date"
    write("condition_occurrence", f"{of_condition} visit_occurrence_id", conditions)
    of_drug = "drug_exposure_id person_id drug_concept_id drug_exposure_start_date drug_exposure_end_date"
    write("drug_exposure", f"{of_drug} visit_occurrence_id", drugs)
    of_measurement = "measurement_id person_id measurement_concept_id measurement_date measurement_datetime"
    write("measurement", f"{of_measurement} value_as_number visit_occurrence_id", measurements)


if __name__ == "__main__":
    main()
