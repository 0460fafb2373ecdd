"""What the labelled columns are made of: words, names and forms of numbers."""

GIVEN = {
    "de": "Anna Lena Jürgen Uwe Sabine Björn Gerlinde Tobias Mareike Heinz Ayşe Wiebke Detlef Rüdiger Emil Thea Jannik "
    "Ottilie",
    "us": "James Mary Linda Robert Ashley Tyler Brianna Madison Jamal Latoya Cody Brooklyn Mackenzie Wyatt Harper "
    "Eleanor",
    "fr": "Jean Marie Océane Théo Élodie Benoît Maëlys Aurélien Chloé Gaëtan Solène Yannick Capucine Noémie Loïc "
    "Margaux",
    "nl": "Daan Sanne Femke Joost Maartje Pieter Anouk Sjoerd Lieke Bram Roos Thijs Wietske Gijs Fenna Ruben Marijke "
    "Hugo",
    "es": "José María Lucía Íñigo Javier Carmen Álvaro Begoña Macarena Pablo Nuria Ramón Ainhoa Jesús Consuelo Raúl "
    "Inés",
    "pl": "Anna Krzysztof Małgorzata Łukasz Zbigniew Agnieszka Grzegorz Elżbieta Wojciech Kinga Mateusz Żaneta Paweł "
    "Zofia",
    "in": "Aarav Priya Rahul Lakshmi Deepak Sunita Vikram Ananya Ramesh Kavita Ishaan Meenakshi Suresh Pooja Harpreet "
    "Gopal",
    "br": "João Maria Thiago Fernanda Luiz Juliana Rafael Camila Vinícius Letícia Otávio Beatriz Caio Sueli Wesley "
    "Larissa",
    "it": "Giulia Matteo Francesca Lorenzo Alessia Giovanni Chiara Davide Ilaria Salvatore Ginevra Pietro Martina "
    "Ettore",
    "tr": "Mehmet Ayşe Mustafa Fatma Emre Zeynep Burak Elif Hüseyin Gülşen Kerem Özlem Tuğba Serkan Derya Yusuf Sevgi "
    "Onur",
    "se": "Lars Ingrid Björn Astrid Gunnar Maja Åsa Oskar Ebba Nils Linnea Håkan Saga Göran Ulla Viktor Elsa Johan "
    "Britta",
}


FAMILY = {
    "de": "Müller Schmidt Schneider Weißenberger Hoffmann Köhler Yılmaz Brandstätter Krause Lehmann Oberhuber Vogel "
    "Pfeiffer",
    "us": "Smith Johnson Washington Nguyen Garcia Kowalczyk O'Connor Baker Sandoval Hernandez Lee Fitzgerald Brown "
    "McAllister",
    "fr": "Martin Dubois Lefèvre Delacroix Moreau Benhaddou Girard Chevalier Roux Quiniou Fontaine Petit Vasseur "
    "Le_Goff",
    "nl": "de_Vries Jansen van_den_Berg Bakker Hoekstra Smit van_Leeuwen Dijkstra Terpstra Mulder Visser Bos",
    "es": "García Fernández Etxeberria López Muñoz Castillo Domínguez Vázquez Ibáñez Aranda Serrano Montoya Gutiérrez "
    "Pujol",
    "pl": "Nowak Kowalska Wiśniewski Zielińska Woźniak Dąbrowska Szymański Bąk Kaczmarek Grabowska Chrzanowski Wróbel "
    "Lis",
    "in": "Sharma Patel Iyer Reddy Singh Gupta Chatterjee Nair Khan Deshpande Balasubramanian Kaur Joshi Mehta "
    "Bhattacharya",
    "br": "Silva Santos Oliveira Souza Ferreira Albuquerque Lima Carvalho Gonçalves Ribeiro Rocha Teixeira Cavalcanti "
    "Moreira",
    "it": "Rossi Russo Ferrari Esposito Bianchi Romano Colombo Ricci Marino Lo_Presti Barbieri Sanna De_Luca Mancini "
    "Pozzi",
    "tr": "Yılmaz Kaya Demir Çelik Şahin Yıldırım Öztürk Aydın Arslan Doğan Kılıç Karataş Türkoğlu Erdem Özkan Koç",
    "se": "Andersson Johansson Lindqvist Bergström Nyström Karlsson Sjögren Åkesson Hedlund Nilsson Ekdahl Svensson "
    "Öberg",
}


STREETS = {
    "de": (
        "{s} {n}",
        "Hauptstraße Bahnhofstr. Gartenweg Lindenallee Am_Markt Goetheplatz Kirchgasse Ringstraße Mühlenweg",
    ),
    "us": (
        "{n} {s}",
        "Main_St Oak_Avenue Maple_Dr Washington_Blvd N_5th_Street Sunset_Lane Park_Rd Elm_Court Lakeview_Ter",
    ),
    "fr": (
        "{n} {s}",
        "rue_de_la_Paix avenue_Victor_Hugo boulevard_Voltaire place_du_Marché impasse_des_Lilas chemin_Vert",
    ),
    "nl": (
        "{s} {n}",
        "Keizersgracht Dorpsstraat Kerkweg Beatrixlaan Marktplein Havenkade Molendijk Oranjesingel Kloosterpad",
    ),
    "es": (
        "{s} {n}",
        "Calle_Mayor C/_Alcalá Avda._de_la_Constitución Paseo_del_Prado Plaza_Nueva Camino_Real Ronda_Sur",
    ),
    "pl": (
        "{s} {n}/{m}",
        "ul._Długa ul._Marszałkowska al._Jerozolimskie os._Piastów ul._Kościuszki pl._Wolności ul._Polna",
    ),
    "in": ("{n}, {s}", "MG_Road Nehru_Marg Gandhi_Nagar Lajpat_Colony Park_Street Station_Road Anna_Salai Ashok_Vihar"),
    "br": ("{s}, {n}", "Rua_Augusta Avenida_Paulista Travessa_do_Ouvidor Praça_da_Sé Alameda_Santos Rua_das_Flores"),
    "it": (
        "{s} {n}",
        "Via_Roma Corso_Italia Piazza_Garibaldi Viale_Europa Vicolo_Stretto Via_Dante_Alighieri Largo_Augusto",
    ),
    "se": (
        "{s} {n}",
        "Storgatan Kungsvägen Drottninggatan Skolgatan Björkstigen Ringvägen Vasagatan Parkvägen Nygatan",
    ),
}


PHONES = {
    "de": ("+49 30 #######", "+49 (0)89 ######", "+49151########"),
    "us": ("+1 212 ### ####", "+1-415-###-####"),
    "fr": ("+33 6 ## ## ## ##", "+33 1 ## ## ## ##"),
    "nl": ("+31 6 ########", "0031 20 #######"),
    "es": ("+34 6## ### ###", "+34 91 ### ## ##"),
    "pl": ("+48 5## ### ###",),
    "in": ("+91 98### #####", "+91-22-2#######"),
    "br": ("+55 11 9####-####", "+55 (21) 9####-####"),
    "gb": ("+44 7### ######", "+44 20 7### ####"),
}


NATIONAL_PHONES = {
    "de": ("030 #######", "0151-########", "089/######"),
    "us": ("(212) ###-####", "(415) ###-####"),
    "fr": ("06 ## ## ## ##", "01 ## ## ## ##"),
    "nl": ("06-########", "020-#######"),
    "es": ("6## ### ###",),
    "pl": ("5## ### ###",),
    "in": ("098### #####", "98########"),
    "br": ("(11) 9####-####", "(21) 9####-####"),
}


WORDS = {
    "city": "Berlin Hamburg München Köln Frankfurt Stuttgart Düsseldorf Leipzig Dortmund Essen Bremen Dresden Hannover "
    "Nürnberg Paris London Madrid Sevilla Amsterdam Rotterdam Utrecht Warszawa Kraków Gdańsk São_Paulo "
    "Salvador Recife Mumbai Delhi Chennai New_York Houston Phoenix San_Antonio Austin Jackson Charlotte "
    "Madison Lincoln Florence Los_Angeles Buenos_Aires",
    "occupation": "Nurse Teacher Software_Engineer Baker Carpenter Accountant Bus_Driver Electrician Plumber "
    "Sales_Manager Data_Analyst Cook Farmer Lawyer Judge Mason Miller Taylor Smith Physician Project_Manager "
    "Cashier Security_Guard",
    "beruf": "Bäcker Müller Schneider Lehrerin Krankenpfleger Koch Maurer Zimmermann Schreiner Kaufmann Informatiker "
    "Ingenieurin Fischer Gärtner Metzger Verkäuferin Arzt Richter Weber Schmied Polizist Elektriker Friseurin",
    "product": "Espresso_Machine Running_Shoes USB_Cable Office_Chair Desk_Lamp Garden_Hose Coffee_Beans Olive_Oil "
    "Rose_Wine Amber_Ale Jack_Daniels Notebook_A5 Wireless_Mouse Yoga_Mat Water_Bottle Winter_Jacket Tea_Pot",
    "category": "Books Toys Garden Electronics Food Clothing Sports Music Health Office Automotive Beauty Pets Travel",
    "farbe": "Black White Brown Green Gray Red Blue Rose Violet Amber Silver Gold Olive Scarlet Yellow Orange",
    "month": "January February March April May June July August September October November December",
    "company": "Siemens_AG Müller_GmbH Johnson_&_Johnson Unilever_NV Tata_Steel_Ltd Petrobras_SA Miller_Brewing_Inc "
    "Schmidt_Logistik_GmbH BASF_SE Volvo_Group Santander_Bank Orange_SA Philips Wipro_Ltd Harley_Davidson_Inc",
    "country": "Germany France Spain Poland India Brazil Netherlands Italy Jordan Georgia Chad Israel Norway Sweden "
    "United_States Mexico Cuba China Japan Portugal",
    "department": "Cardiology Oncology Pediatrics Human_Resources Finance Legal Radiology Emergency_Room Logistics "
    "Research Surgery",
    "marital": "single married divorced widowed separated partnered",
    "education": "Bachelors Masters Doctorate HS-grad Some-college 11th 9th Assoc-voc Prof-school Preschool",
    "species": "Quercus_robur Fagus_sylvatica Pinus_nigra Betula_pendula Acer_campestre Tilia_cordata Salix_alba "
    "Ulmus_glabra Rosa_canina",
    "car": "Ford_Focus VW_Golf Tesla_Model_3 BMW_X5 Fiat_500 Renault_Clio Audi_A4 Opel_Corsa Mercedes_C200 "
    "Toyota_Yaris Honda_Civic",
    "diagnosis": "Asthma Type_2_diabetes Hypertension Fracture_of_wrist Influenza Migraine Parkinson_disease "
    "Crohn_disease Hodgkin_lymphoma",
    "street_type": "Straße Weg Platz Allee Gasse Ring Damm Ufer",
    "weekday": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "language": "German English French Spanish Polish Hindi Portuguese Dutch Turkish Arabic",
}
