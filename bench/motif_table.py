#!/usr/bin/env python3
"""A fully known table of categorical parameters: what a transcription factor binds of all DNA sequences of eight bases.

    python3 bench/motif_table.py > motif.csv
    hindsight bench w50 --csv motif.csv --objective score --maximise --train 1000 --seeds 5

65,536 rows of eight parameters p0..p7 (A, C, G, T) and a score in (0, 1] of which more is better, as tables of measured
binding (TF-Bind-8 of Design-Bench) have them. The score is made, not measured: a factor that recognises six bases sits at
any of three places on either strand, each placement weighs exp(fit), and the score is the share of time that some
placement is taken, over the best sequence's. Neighbours in the motif interact, so that it is no sum over positions.
Same seed, same bytes.
"""

import argparse
import itertools
import math
import random
import sys

BASES = "ACGT"
LENGTH = 8  # of a sequence
MOTIF = 6  # bases that the factor recognises [chosen: of 6 to 8 of most factors]
CONTRAST = 1.0  # deviation of a base's fit in units of kT [chosen: an order of magnitude between good and bad bases]
PAIR = 0.5  # the same of two neighbours [chosen: half as much, so that positions alone do not tell the order]
FREE = 7.0  # kT that a placement costs [chosen: the median sequence is bound a hundredth to a tenth as often as the best]


def motif(seed):
    """Fits of a base at a place of the motif, and of two neighbours, in kT."""
    stream = random.Random(seed)
    single = [[stream.gauss(0, CONTRAST) for _ in BASES] for _ in range(MOTIF)]
    pair = [[[stream.gauss(0, PAIR) for _ in BASES] for _ in BASES] for _ in range(MOTIF - 1)]
    return single, pair


def fit(window, single, pair):
    alone = sum(single[place][base] for place, base in enumerate(window))
    return alone + sum(pair[place][window[place]][window[place + 1]] for place in range(MOTIF - 1))


def bound(sequence, fits):
    """Share of the time that some placement is taken: K / (1 + K), K the sum of exp(fit - FREE) over placements."""
    other_strand = tuple(len(BASES) - 1 - base for base in reversed(sequence))  # A-T, C-G
    weight = sum(
        math.exp(fits[strand[start : start + MOTIF]] - FREE)
        for strand in (sequence, other_strand)
        for start in range(LENGTH - MOTIF + 1)
    )
    return weight / (1 + weight)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="of the motif (default: 1)")
    seed = parser.parse_args().seed
    single, pair = motif(seed)
    codes = range(len(BASES))
    fits = {window: fit(window, single, pair) for window in itertools.product(codes, repeat=MOTIF)}
    rows = [(sequence, bound(sequence, fits)) for sequence in itertools.product(codes, repeat=LENGTH)]
    best = max(score for _, score in rows)
    out = [",".join(f"p{place}" for place in range(LENGTH)) + ",score"]
    out += [",".join(BASES[base] for base in sequence) + f",{score / best:.6g}" for sequence, score in rows]
    sys.stdout.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
