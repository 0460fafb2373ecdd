"""Five schemas that were written before the scan was tried on them: `README.md` has the figures of the first time.

Chinook, Moodle and Sakila are public; their tables and columns are called as there. Staff and club are ours.
"""

from __future__ import annotations

from _schemas import ADDRESS, COMMENT, NAME, PHONE, ZIP, Schema, day, lines, maybe, number, one_of, pairs

GIVEN = "Anna,Peter,Maria,Jonas,Julia,Lukas,Emma,David,Laura,Thomas,Sarah,Michael,Nina,Robert,Clara,Daniel,Eva,Martin"
FAMILY = "Meyer,Smith,Gruber,Novak,Rossi,Garcia,Silva,Jensen,Kowalski,Dubois,Brown,Miller,Wagner,Johnson,Lopez,Moreau"
CITY = one_of("Oslo,Paris,Lisbon,Prague,Boston,Dublin,Vienna,Madrid", 301)
COUNTRY = one_of("Norway,France,Portugal,Czech Republic,USA,Ireland,Austria,Spain", 302)
STATE = maybe(one_of("CA,NY,TX,WA,QC", 303), 304)
ADJECTIVE = one_of("Silent,Burning,Golden,Broken,Distant,Velvet,Electric,Northern", 305)
NOUN = one_of("Rivers,Machines,Mirrors,Thunder,Harbour,Windows,Engines,Gardens", 306)
MAIL = f"lower({one_of(GIVEN, 307)}) || i || '@' || {one_of('example.com,mail.test,post.example', 308)}"
PERSON_ADDRESS = {
    "Address": ADDRESS, "City": CITY, "State": STATE, "Country": COUNTRY, "PostalCode": ZIP.format(309), "Phone": PHONE,
    "Fax": maybe(PHONE, 310), "Email": MAIL,
}  # fmt: skip

CHINOOK = Schema(
    "Chinook-like music shop",
    {
        "Artist": (270, {"ArtistId": "i + 1", "Name": f"{ADJECTIVE} || ' ' || {NOUN} || ' ' || i % 30"}),
        "Album": (340, {"AlbumId": "i + 1", "Title": COMMENT, "ArtistId": number(270, 311, 1)}),
        "Genre": (25, {"GenreId": "i + 1", "Name": "'Genre ' || i"}),
        "MediaType": (5, {"MediaTypeId": "i + 1", "Name": "'Format ' || i"}),
        "Playlist": (18, {"PlaylistId": "i + 1", "Name": one_of("Music,Movies,Audiobooks,Classical,Grunge", 312)}),
        "Track": (3500, {
            "TrackId": "i + 1", "Name": COMMENT, "AlbumId": number(340, 313, 1), "MediaTypeId": number(5, 314, 1),
            "GenreId": number(25, 315, 1), "Composer": maybe(NAME, 316), "Milliseconds": number(400000, 317, 90000),
            "Bytes": number(9000000, 318, 1000000), "UnitPrice": "0.99 + (i % 2)"}),
        "PlaylistTrack": (8000, {"PlaylistId": number(18, 319, 1), "TrackId": number(3500, 320, 1)}),
        "Employee": (40, {
            "EmployeeId": "i + 1", "LastName": one_of(FAMILY, 321), "FirstName": one_of(GIVEN, 322),
            "Title": one_of("General Manager,Sales Support Agent,IT Staff", 323),
            "ReportsTo": "CASE WHEN i > 1 THEN 1 + (i * 3) % 9 END", "BirthDate": day(324, "1955-01-01", 14000),
            "HireDate": day(325, "2002-01-01"), **PERSON_ADDRESS}),
        "Customer": (590, {
            "CustomerId": "i + 1", "FirstName": one_of(GIVEN, 326), "LastName": one_of(FAMILY, 327),
            "Company": maybe("'Company ' || i % 60", 328), **PERSON_ADDRESS, "SupportRepId": number(40, 329, 1)}),
        "Invoice": (4100, {
            "InvoiceId": "i + 1", "CustomerId": number(590, 330, 1), "InvoiceDate": day(331, "2009-01-01", 1800),
            "BillingAddress": ADDRESS, "BillingCity": CITY, "BillingState": STATE, "BillingCountry": COUNTRY,
            "BillingPostalCode": ZIP.format(332), "Total": "(hash(i, 333) % 2500) / 100.0"}),
        "InvoiceLine": (9000, {
            "InvoiceLineId": "i + 1", "InvoiceId": number(4100, 334, 1), "TrackId": number(3500, 335, 1),
            "UnitPrice": "0.99", "Quantity": number(3, 336, 1)}),
    },
    lines("Track.Composer Employee.EmployeeId Employee.LastName Employee.FirstName Employee.ReportsTo Employee.Address",
          "Employee.Phone Employee.Fax Employee.Email Customer.CustomerId Customer.FirstName Customer.LastName",
          "Customer.Address Customer.Phone Customer.Fax Customer.Email Customer.SupportRepId Invoice.CustomerId",
          "Invoice.BillingAddress"),
    lines("Employee.EmployeeId Employee.ReportsTo Customer.CustomerId Customer.SupportRepId Invoice.CustomerId"),
    pairs("Album.ArtistId Artist.ArtistId Track.AlbumId Album.AlbumId Track.MediaTypeId MediaType.MediaTypeId "
          "Track.GenreId Genre.GenreId PlaylistTrack.PlaylistId Playlist.PlaylistId "
          "PlaylistTrack.TrackId Track.TrackId Employee.ReportsTo Employee.EmployeeId "
          "Customer.SupportRepId Employee.EmployeeId Invoice.CustomerId Customer.CustomerId "
          "InvoiceLine.InvoiceId Invoice.InvoiceId InvoiceLine.TrackId Track.TrackId"),
)  # fmt: skip

EPOCH = "(1600000000 + hash(i, {}) % 90000000)::BIGINT"
USERS, COURSES = 900, 60
MOODLE = Schema(
    "Moodle-like school",
    {
        "mdl_user": (USERS, {
            "id": "i + 1", "auth": one_of("manual,ldap,email", 341), "confirmed": "1", "deleted": "0",
            "username": f"lower({one_of(GIVEN, 342)}) || '.' || lower({one_of(FAMILY, 343)}) || i",
            "idnumber": "printf('M%06d', 200000 + (i * 37) % 90000)", "firstname": one_of(GIVEN, 342),
            "lastname": one_of(FAMILY, 343), "email": MAIL, "phone1": maybe(PHONE, 344), "phone2": maybe(PHONE, 345),
            "institution": one_of("North School,South School,College", 346),
            "department": one_of("Science,Arts,Sports", 347),
            "address": maybe(ADDRESS, 348), "city": CITY, "country": one_of("NO,FR,PT,CZ,US,IE,AT,ES", 349),
            "lang": one_of("en,de,fr", 350), "firstaccess": EPOCH.format(351), "lastaccess": EPOCH.format(352),
            "lastip": "printf('10.%d.%d.%d', (hash(i, 353) % 250)::INTEGER, (hash(i, 354) % 250)::INTEGER, "
                      "(1 + hash(i, 355) % 250)::INTEGER)",
            "timecreated": EPOCH.format(356)}),
        "mdl_course_categories": (12, {
            "id": "i + 1", "name": "'Category ' || i", "parent": "CASE WHEN i < 4 THEN 0 ELSE 1 + i % 4 END",
            "depth": "1 + (i > 3)::INTEGER", "sortorder": "10000 * (i + 1)"}),
        "mdl_course": (COURSES, {
            "id": "i + 1", "category": number(12, 357, 1), "fullname": COMMENT, "shortname": "'C' || 100 + i",
            "startdate": EPOCH.format(358), "format": one_of("topics,weeks", 359), "visible": "1"}),
        "mdl_role": (9, {"id": "i + 1", "shortname": "'role' || i",
                         "archetype": one_of("manager,teacher,student", 360)}),
        "mdl_context": (400, {"id": "i + 1", "contextlevel": one_of("10,40,50,70", 361), "instanceid": "i % 70 + 1",
                              "depth": number(4, 362, 1)}),
        "mdl_enrol": (120, {"id": "i + 1", "enrol": one_of("manual,self,cohort", 363), "status": number(2, 364),
                            "courseid": number(COURSES, 365, 1), "roleid": number(9, 366, 1)}),
        "mdl_user_enrolments": (5000, {
            "id": "i + 1", "enrolid": number(120, 367, 1), "userid": number(USERS, 368, 1),
            "timestart": EPOCH.format(369), "timeend": "0", "modifierid": number(30, 370, 1)}),
        "mdl_role_assignments": (3000, {
            "id": "i + 1", "roleid": number(9, 371, 1), "contextid": number(400, 372, 1),
            "userid": number(USERS, 373, 1), "timemodified": EPOCH.format(374)}),
        "mdl_assign": (300, {"id": "i + 1", "course": number(COURSES, 375, 1), "name": COMMENT,
                             "duedate": EPOCH.format(376), "grade": "100"}),
        "mdl_assign_submission": (9000, {
            "id": "i + 1", "assignment": number(300, 377, 1), "userid": number(USERS, 378, 1),
            "timecreated": EPOCH.format(379), "status": one_of("submitted,draft,new", 380), "attemptnumber": "0"}),
        "mdl_grade_items": (350, {"id": "i + 1", "courseid": number(COURSES, 381, 1), "itemname": COMMENT,
                                  "itemtype": one_of("mod,manual,course", 382), "grademax": "100.0"}),
        "mdl_grade_grades": (15000, {
            "id": "i + 1", "itemid": number(350, 383, 1), "userid": number(USERS, 384, 1),
            "rawgrade": "(hash(i, 385) % 10000) / 100.0", "finalgrade": "(hash(i, 386) % 10000) / 100.0",
            "usermodified": number(30, 387, 1), "timemodified": EPOCH.format(388)}),
        "mdl_forum": (80, {"id": "i + 1", "course": number(COURSES, 389, 1), "type": one_of("news,general,qanda", 390),
                           "name": COMMENT}),
        "mdl_forum_discussions": (900, {
            "id": "i + 1", "course": number(COURSES, 391, 1), "forum": number(80, 392, 1), "name": COMMENT,
            "userid": number(USERS, 393, 1), "timemodified": EPOCH.format(394)}),
        "mdl_forum_posts": (4000, {
            "id": "i + 1", "discussion": number(900, 395, 1),
            "parent": "CASE WHEN i < 900 THEN 0 ELSE 1 + (i * 7) % 900 END",
            "userid": number(USERS, 396, 1), "created": EPOCH.format(397), "subject": COMMENT, "message": COMMENT}),
        "mdl_logstore_standard_log": (20000, {
            "id": "i + 1", "eventname": one_of("viewed,created,updated,deleted", 398),
            "contextid": number(400, 399, 1), "userid": number(USERS, 400, 1), "courseid": number(COURSES, 401, 1),
            "relateduserid": maybe(number(USERS, 402, 1), 403),
            "ip": "printf('10.%d.%d.%d', (hash(i, 404) % 250)::INTEGER, (hash(i, 405) % 250)::INTEGER, "
                  "(1 + hash(i, 406) % 250)::INTEGER)",
            "timecreated": EPOCH.format(407)}),
    },
    lines("mdl_user.id mdl_user.username mdl_user.idnumber mdl_user.firstname mdl_user.lastname mdl_user.email",
          "mdl_user.phone1 mdl_user.phone2 mdl_user.address mdl_user.lastip mdl_user_enrolments.userid",
          "mdl_user_enrolments.modifierid mdl_role_assignments.userid mdl_assign_submission.userid",
          "mdl_grade_grades.userid mdl_grade_grades.usermodified mdl_forum_discussions.userid mdl_forum_posts.userid",
          "mdl_logstore_standard_log.userid mdl_logstore_standard_log.relateduserid mdl_logstore_standard_log.ip"),
    lines("mdl_user.id mdl_user_enrolments.userid mdl_user_enrolments.modifierid mdl_role_assignments.userid",
          "mdl_assign_submission.userid mdl_grade_grades.userid mdl_grade_grades.usermodified",
          "mdl_forum_discussions.userid mdl_forum_posts.userid mdl_logstore_standard_log.userid",
          "mdl_logstore_standard_log.relateduserid"),
    {(f"mdl_{child}", f"mdl_{parent}.id") for child, parent in pairs(
        "course.category course_categories enrol.courseid course enrol.roleid role user_enrolments.enrolid enrol "
        "course_categories.parent course_categories user_enrolments.userid user user_enrolments.modifierid user "
        "role_assignments.roleid role role_assignments.contextid context role_assignments.userid user "
        "assign.course course assign_submission.assignment assign assign_submission.userid user "
        "grade_items.courseid course grade_grades.itemid grade_items grade_grades.userid user "
        "grade_grades.usermodified user forum.course course forum_discussions.course course "
        "forum_discussions.forum forum forum_discussions.userid user forum_posts.discussion forum_discussions "
        "forum_posts.parent forum_posts forum_posts.userid user logstore_standard_log.contextid context "
        "logstore_standard_log.userid user logstore_standard_log.courseid course "
        "logstore_standard_log.relateduserid user")},
)  # fmt: skip

VORNAME = one_of("Andreas,Sabine,Jürgen,Petra,Wolfgang,Ursula,Stefan,Claudia,Matthias,Birgit,Florian,Katharina", 421)
NACHNAME = one_of("Müller,Schmidt,Schneider,Fischer,Weber,Becker,Hoffmann,Schäfer,Koch,Bauer,Richter,Klein", 422)
STRASSE = f"{one_of('Hauptstraße,Bahnhofstr.,Gartenweg,Lindenallee,Am Markt,Schulgasse', 423)} || ' ' || (1 + i % 90)"
ORT = one_of("Stuttgart,Leipzig,Graz,Bremen,Linz,Kassel", 424)
TELEFON = "printf('0%d %d', (210 + hash(i, 425) % 700)::INTEGER, (100000 + hash(i, 426) % 900000)::INTEGER)"
MOBIL = "printf('+49 17%d %07d', (hash(i, 427) % 9)::INTEGER, (1000000 + hash(i, 428) % 9000000)::INTEGER)"
BBAN = "printf('%d%09d0', 50010517 + (hash(i, 429) % 9)::INTEGER * 1000000, (hash(i, 430) % 1000000000)::BIGINT)"
IBAN = f"'DE' || printf('%02d', (98 - ({BBAN} || '131400')::HUGEINT % 97)::INTEGER) || {BBAN}"
STAFF = 1200
PERSONALNUMMER = number(STAFF, 431, 10001)
STAFF_SCHEMA = Schema(
    "staff, in German",
    {
        "standort": (6, {"standort_nr": "i + 1", "ort": ORT, "plz": ZIP.format(432), "land": one_of("DE,AT", 433)}),
        "abteilung": (24, {"abteilung_nr": "100 + i", "bezeichnung": "'Abteilung ' || i",
                           "standort_nr": number(6, 434, 1), "leiter_nr": number(STAFF, 435, 10001)}),
        "mitarbeiter": (STAFF, {
            "personalnummer": "10001 + i", "vorname": VORNAME, "nachname": NACHNAME,
            "geburtsdatum": day(436, "1960-01-01", 15000), "geschlecht": one_of("m,w,d", 437),
            "familienstand": one_of("ledig,verheiratet,geschieden", 438),
            "staatsangehoerigkeit": one_of("deutsch,österreichisch,italienisch", 439), "strasse": STRASSE,
            "plz": ZIP.format(440), "ort": ORT, "telefon": TELEFON, "mobil": maybe(MOBIL, 441),
            "email": "'person' || i || '@firma.example'",
            "sv_nummer": "printf('%02d%02d%02d%02d%s%03d', 12 + i % 60, 1 + i % 28, 1 + i % 12, i % 90, chr((65 + i % "
                         "26)::INTEGER), (hash(i, 442) % 1000)::INTEGER)",
            "steuer_id": "(10000000000 + hash(i, 443) % 89999999999)::VARCHAR", "iban": IBAN,
            "konfession": one_of("rk,ev,keine", 444), "eintrittsdatum": day(445, "1995-01-01", 9000),
            "abteilung_nr": number(24, 446, 100), "vorgesetzter_nr": maybe(number(60, 447, 10001), 448)}),
        "gehalt": (12000, {
            "gehalt_id": "i + 1", "personalnummer": PERSONALNUMMER, "monat": day(449, "2024-01-01", 360),
            "brutto": number(7000, 450, 2000), "netto": number(4000, 451, 1500), "steuerklasse": number(6, 452, 1)}),
        "urlaubsantrag": (3000, {
            "antrag_id": "i + 1", "personalnummer": PERSONALNUMMER, "von": day(453, "2024-01-01", 360),
            "bis": day(454, "2024-01-01", 380), "status": one_of("offen,genehmigt,abgelehnt", 455),
            "genehmigt_von": number(60, 456, 10001)}),
        "krankmeldung": (2000, {
            "meldung_id": "i + 1", "personalnummer": PERSONALNUMMER, "beginn": day(457, "2024-01-01", 360),
            "ende": day(458, "2024-01-10", 360), "diagnose_code": "'J' || hash(i, 459) % 60",
            "arzt": f"'Dr. ' || {VORNAME} || ' ' || {NACHNAME}"}),
        "stelle": (90, {"stelle_nr": "500 + i", "titel": one_of("Sachbearbeitung,Leitung,Technik,Einkauf", 460),
                        "abteilung_nr": number(24, 461, 100), "entgeltgruppe": "'E' || 5 + i % 10"}),
        "bewerbung": (800, {
            "bewerbung_id": "i + 1", "bewerber_name": f"{VORNAME} || ' ' || {NACHNAME}",
            "e_mail": "'b' || i || '@post.example'", "telefonnummer": TELEFON, "stelle_nr": number(90, 462, 500),
            "eingegangen_am": day(463, "2024-01-01", 360), "bewertung": number(5, 464, 1)}),
        "dienstwagen": (150, {
            "kennzeichen": "'S-' || chr((65 + i % 26)::INTEGER) || chr((65 + i % 7)::INTEGER) || ' ' || 1000 + i",
            "fahrer_nr": number(STAFF, 465, 10001), "modell": one_of("Kombi,Limousine,Kleinwagen", 466),
            "leasing_bis": day(467, "2025-01-01", 900)}),
        "schulung": (40, {"schulung_nr": "i + 1", "thema": "'Thema ' || i", "dauer_tage": number(5, 468, 1)}),
        "schulung_teilnahme": (2500, {
            "schulung_nr": number(40, 469, 1), "personalnummer": PERSONALNUMMER, "datum": day(470, "2024-01-01", 360),
            "bestanden": "i % 7 > 0"}),
        "zeiterfassung": (30000, {
            "buchung_id": "i + 1", "personalnummer": PERSONALNUMMER,
            "kommt": "TIMESTAMP '2024-01-01 07:00' + INTERVAL (i) MINUTE",
            "geht": "TIMESTAMP '2024-01-01 16:00' + INTERVAL (i) MINUTE", "terminal": number(9, 471, 1)}),
    },
    lines("abteilung.leiter_nr mitarbeiter.personalnummer mitarbeiter.vorname mitarbeiter.nachname mitarbeiter.strasse",
          "mitarbeiter.telefon mitarbeiter.mobil mitarbeiter.email mitarbeiter.sv_nummer mitarbeiter.steuer_id",
          "mitarbeiter.iban mitarbeiter.vorgesetzter_nr gehalt.personalnummer urlaubsantrag.personalnummer",
          "urlaubsantrag.genehmigt_von krankmeldung.personalnummer krankmeldung.arzt bewerbung.bewerber_name",
          "bewerbung.e_mail bewerbung.telefonnummer dienstwagen.kennzeichen dienstwagen.fahrer_nr",
          "schulung_teilnahme.personalnummer zeiterfassung.personalnummer"),
    lines("abteilung.leiter_nr mitarbeiter.personalnummer mitarbeiter.vorgesetzter_nr gehalt.personalnummer",
          "urlaubsantrag.personalnummer urlaubsantrag.genehmigt_von krankmeldung.personalnummer dienstwagen.fahrer_nr",
          "schulung_teilnahme.personalnummer zeiterfassung.personalnummer"),
    pairs("abteilung.standort_nr standort.standort_nr stelle.abteilung_nr abteilung.abteilung_nr "
          "mitarbeiter.abteilung_nr abteilung.abteilung_nr bewerbung.stelle_nr stelle.stelle_nr "
          "schulung_teilnahme.schulung_nr schulung.schulung_nr")
    | {(name, "mitarbeiter.personalnummer") for name in lines(
        "abteilung.leiter_nr mitarbeiter.vorgesetzter_nr gehalt.personalnummer urlaubsantrag.personalnummer "
        "urlaubsantrag.genehmigt_von krankmeldung.personalnummer dienstwagen.fahrer_nr "
        "schulung_teilnahme.personalnummer zeiterfassung.personalnummer")},
)  # fmt: skip

SAKILA = Schema(
    "Sakila-like video rental",
    {
        "actor": (200, {"actor_id": "i + 1", "first_name": one_of(GIVEN, 501), "last_name": one_of(FAMILY, 502)}),
        "country": (109, {"country_id": "i + 1", "country": "'Country ' || i"}),
        "city": (600, {"city_id": "i + 1", "city": "'City ' || i % 590", "country_id": number(109, 503, 1)}),
        "address": (603, {"address_id": "i + 1", "address": ADDRESS, "address2": maybe("'Floor ' || i % 4", 504),
                          "district": one_of("North,South,East,West", 505), "city_id": number(600, 506, 1),
                          "postal_code": ZIP.format(507), "phone": PHONE}),
        "language": (6, {"language_id": "i + 1", "name": one_of("English,Italian,Japanese,French", 508)}),
        "category": (16, {"category_id": "i + 1", "name": "'Category ' || i"}),
        "film": (1000, {
            "film_id": "i + 1", "title": f"{ADJECTIVE} || ' ' || {NOUN} || ' ' || i % 200", "description": COMMENT,
            "release_year": number(12, 509, 1995), "language_id": number(6, 510, 1),
            "original_language_id": maybe(number(6, 511, 1), 512), "rental_duration": number(5, 513, 3),
            "rental_rate": "0.99 + 2 * (i % 3)", "length": number(140, 514, 45), "rating": one_of("G,PG,R", 515)}),
        "film_actor": (5400, {"actor_id": number(200, 516, 1), "film_id": number(1000, 517, 1)}),
        "film_category": (1000, {"film_id": "i + 1", "category_id": number(16, 518, 1)}),
        "store": (20, {"store_id": "i + 1", "manager_staff_id": "i + 1", "address_id": number(603, 519, 1)}),
        "staff": (70, {
            "staff_id": "i + 1", "first_name": one_of(GIVEN, 520), "last_name": one_of(FAMILY, 521),
            "address_id": number(603, 522, 1), "email": MAIL, "store_id": number(20, 523, 1), "active": "i % 9 > 0",
            "username": f"lower({one_of(GIVEN, 524)}) || i % 50"}),
        "customer": (599, {
            "customer_id": "i + 1", "store_id": number(20, 525, 1), "first_name": one_of(GIVEN, 526),
            "last_name": one_of(FAMILY, 527), "email": MAIL, "address_id": number(603, 528, 1), "active": "i % 20 > 0",
            "create_date": day(529, "2006-01-01")}),
        "inventory": (4500, {"inventory_id": "i + 1", "film_id": number(1000, 530, 1), "store_id": number(20, 531, 1)}),
        "rental": (16000, {
            "rental_id": "i + 1", "rental_date": day(532, "2015-01-01"), "inventory_id": number(4500, 533, 1),
            "customer_id": number(599, 534, 1), "return_date": maybe(day(535, "2015-01-01"), 536),
            "staff_id": number(70, 537, 1)}),
        "payment": (16000, {
            "payment_id": "i + 1", "customer_id": number(599, 538, 1), "staff_id": number(70, 539, 1),
            "rental_id": number(16000, 540, 1), "amount": "(hash(i, 541) % 1200) / 100.0",
            "payment_date": day(542, "2015-01-01")}),
    },
    lines("actor.actor_id actor.first_name actor.last_name film_actor.actor_id address.address address.phone",
          "staff.staff_id staff.first_name staff.last_name staff.email staff.username store.manager_staff_id",
          "customer.customer_id customer.first_name customer.last_name customer.email rental.customer_id",
          "rental.staff_id payment.customer_id payment.staff_id"),
    lines("actor.actor_id film_actor.actor_id staff.staff_id store.manager_staff_id customer.customer_id",
          "rental.customer_id rental.staff_id payment.customer_id payment.staff_id"),
    pairs("city.country_id country.country_id address.city_id city.city_id film.language_id language.language_id "
          "film.original_language_id language.language_id film_actor.actor_id actor.actor_id "
          "film_actor.film_id film.film_id film_category.film_id film.film_id "
          "film_category.category_id category.category_id store.manager_staff_id staff.staff_id "
          "store.address_id address.address_id staff.address_id address.address_id staff.store_id store.store_id "
          "customer.store_id store.store_id customer.address_id address.address_id inventory.film_id film.film_id "
          "inventory.store_id store.store_id rental.inventory_id inventory.inventory_id "
          "rental.customer_id customer.customer_id rental.staff_id staff.staff_id "
          "payment.customer_id customer.customer_id payment.staff_id staff.staff_id "
          "payment.rental_id rental.rental_id"),
)  # fmt: skip

PRENOM = one_of("Camille,Hugo,Manon,Lucas,Chloé,Louis,Inès,Gabriel,Léa,Jules,Élodie,Mathieu", 551)
NOM = one_of("Martin,Bernard,Dubois,Durand,Moreau,Lefebvre,Garnier,Faure,Rousseau,Blanc", 552)
RUE = f"(1 + i % 120) || ' ' || {one_of('rue de la Paix,avenue Foch,place du Marché,rue Victor Hugo', 553)}"
PORTABLE = "printf('0%d %02d %02d %02d %02d', 6 + (i % 2)::INTEGER, (hash(i, 554) % 100)::INTEGER, (hash(i, 555) % " \
           "100)::INTEGER, (hash(i, 556) % 100)::INTEGER, (hash(i, 557) % 100)::INTEGER)"  # fmt: skip
ADHERENTS = 700
CLUB = Schema(
    "club, in French",
    {
        "adherent": (ADHERENTS, {
            "num_adherent": "3001 + i", "nom": NOM, "prenom": PRENOM, "date_naissance": day(558, "1950-01-01", 20000),
            "sexe": one_of("F,M", 559), "adresse": RUE, "code_postal": ZIP.format(560),
            "ville": one_of("Lyon,Reims,Nantes,Lille", 561), "telephone": PORTABLE,
            "courriel": "'adherent' || i || '@courrier.example'"}),
        "animateur": (30, {"id_animateur": "i + 1", "nom_complet": f"{PRENOM} || ' ' || {NOM}",
                           "tel_portable": PORTABLE, "diplome": one_of("BAFA,BPJEPS,aucun", 562)}),
        "salle": (12, {"id_salle": "i + 1", "libelle": "'Salle ' || i", "capacite": number(80, 563, 10)}),
        "activite": (45, {"code_activite": "'ACT' || 10 + i", "libelle": "'Cours ' || i",
                          "id_animateur": number(30, 564, 1), "tarif": "20 + 5 * (i % 9)"}),
        "seance": (1500, {"id_seance": "i + 1", "code_activite": "'ACT' || 10 + (hash(i, 565) % 45)",
                          "id_salle": number(12, 566, 1), "date_seance": day(567, "2024-01-01", 360),
                          "id_remplacant": maybe(number(30, 568, 1), 569)}),
        "inscription": (2400, {"id_inscription": "i + 1", "num_adherent": number(ADHERENTS, 570, 3001),
                               "code_activite": "'ACT' || 10 + (hash(i, 571) % 45)",
                               "date_inscription": day(572, "2023-09-01", 300)}),
        "cotisation": (1900, {"id_cotisation": "i + 1", "num_adherent": number(ADHERENTS, 573, 3001),
                              "annee": number(5, 574, 2019), "montant": number(200, 575, 40),
                              "mode_paiement": one_of("cb,cheque,virement", 576)}),
        "presence": (9000, {"id_seance": number(1500, 577, 1), "num_adherent": number(ADHERENTS, 578, 3001),
                            "present": "i % 6 > 0"}),
        "parrainage": (120, {"id_parrain": number(ADHERENTS, 579, 3001), "id_filleul": "3001 + i * 5",
                             "date_parrainage": day(580, "2022-01-01", 700)}),
    },
    lines("adherent.num_adherent adherent.nom adherent.prenom adherent.adresse adherent.telephone adherent.courriel",
          "animateur.id_animateur animateur.nom_complet animateur.tel_portable activite.id_animateur",
          "seance.id_remplacant inscription.num_adherent cotisation.num_adherent presence.num_adherent",
          "parrainage.id_parrain parrainage.id_filleul"),
    lines("adherent.num_adherent animateur.id_animateur activite.id_animateur seance.id_remplacant",
          "inscription.num_adherent cotisation.num_adherent presence.num_adherent parrainage.id_parrain",
          "parrainage.id_filleul"),
    pairs("activite.id_animateur animateur.id_animateur seance.code_activite activite.code_activite "
          "seance.id_salle salle.id_salle seance.id_remplacant animateur.id_animateur "
          "inscription.num_adherent adherent.num_adherent inscription.code_activite activite.code_activite "
          "cotisation.num_adherent adherent.num_adherent presence.id_seance seance.id_seance "
          "presence.num_adherent adherent.num_adherent parrainage.id_parrain adherent.num_adherent "
          "parrainage.id_filleul adherent.num_adherent"),
)  # fmt: skip
UNSEEN = (CHINOOK, MOODLE, STAFF_SCHEMA, SAKILA, CLUB)
