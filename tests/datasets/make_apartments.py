"""Write the simulated apartments that the package ships: ``python tests/datasets/make_apartments.py``.

`load_apartments` documents the columns. ``RandomState`` draws the same numbers with every version of NumPy, so the file
is the same for ever; a test compares them.
"""

import csv
import io

import numpy as np

from kernelrank.datasets import apartments_path

N_SEARCHES = 100
GRADES = (-0.1, 0.35, 0.85)  # a listing has grade k if its merit is above that of its search by the k-th of these
# Name, share of the listings, rent per square metre, merit.
DISTRICTS = (
    ("Centre", 0.17, 17.0, 0.5),
    ("Old Town", 0.14, 16.0, 0.6),
    ("Harbour", 0.12, 14.5, 0.4),
    ("University", 0.12, 13.5, 0.2),
    ("Riverside", 0.11, 13.0, 0.5),
    ("Station", 0.10, 11.0, -0.5),
    ("Northgate", 0.09, 10.0, -0.4),
    ("Westend", 0.08, 12.0, 0.0),
    ("Hillside", 0.05, 12.5, 0.3),
    ("Garden City", 0.012, 13.0, 0.4),
    ("Mill Island", 0.005, 15.0, 0.7),
    ("Quarry", 0.003, 8.0, -0.8),
)
# Words of the description, and their merit.
PHRASES = {
    "balcony": 0.45,
    "sunny": 0.30,
    "renovated": 0.35,
    "quiet street": 0.30,
    "new kitchen": 0.25,
    "lift": 0.10,
    "near metro": 0.25,
    "street noise": -0.55,
    "needs work": -0.60,
    "dark": -0.45,
    "shared laundry": -0.10,
    "wood floor": 0.05,
    "cellar": 0.0,
}


def make():
    """Return the text of the file."""
    rng = np.random.RandomState(7)
    shares = np.array([share for _, share, _, _ in DISTRICTS])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["search", "district", "area", "rooms", "floor", "built", "furnished", "rent", "description", "grade"]
    )
    for search in range(N_SEARCHES):
        wanted = rng.uniform(25, 110)  # square metres: what a search is about, so that levels differ
        rows = [listing(rng, wanted, shares / shares.sum()) for _ in range(rng.randint(6, 14))]
        merits = np.array([merit for merit, _ in rows])
        grades = np.digitize(merits - merits.mean(), GRADES)
        writer.writerows([f"s{search + 1:03d}", *cells, grade] for (_, cells), grade in zip(rows, grades, strict=True))
    return text.getvalue()


def listing(rng, wanted, shares):
    """Return the merit of a listing, and its cells."""
    name, _, level, liking = DISTRICTS[rng.choice(len(DISTRICTS), p=shares)]
    area = round(wanted * np.exp(rng.normal(scale=0.15)))
    rooms = max(1, int(area / 27 + rng.uniform(0, 1)))
    floor, built = rng.randint(0, 8), rng.randint(1890, 2024)
    furnished = rng.uniform() < 0.25
    rent = 5 * round((area * level * np.exp(rng.normal(scale=0.18)) + 80 * furnished) / 5)
    phrases = rng.permutation(list(PHRASES))[: rng.randint(1, 4)]
    merit = 1.6 * np.log(area / rent) + liking + 0.12 * rooms + 0.25 * furnished + 0.05 * floor
    merit += 0.004 * (built - 1950) + sum(PHRASES[phrase] for phrase in phrases) + rng.normal(scale=0.25)
    missing = rng.uniform(size=3) < (0.06, 0.04, 0.15)  # area, floor, built: the searchers know what the table does not
    cells = [name, area, rooms, floor, built, str(furnished).lower(), rent, ", ".join(phrases)]
    for column, is_missing in zip((1, 3, 4), missing, strict=True):
        cells[column] = "" if is_missing else cells[column]
    return merit, cells


if __name__ == "__main__":
    apartments_path().write_text(make())
