#!/usr/bin/env python3
"""What a sweep on many processes takes, costs and waits for: a model of a few measured constants, held against one and
two processes, and a simulation to 10,000 shards with slow nodes and one that is lost.

    bench/scale.sh                            # measures the constants and runs this
    bench/scale_model.py constants.txt        # the tables again

Model, of N shards of a sweep of S designs, seconds of one core each:

    shard     = begin + S * pass + S / N * design
    merge     = log * N + copy * R / N + row * (R - R / N), R = 9 S rows; the first log is copied as it is
    efficiency = S * design / (N * shard)

`pass` is what a shard takes for a design of another shard: it draws all designs of the sweep, because which number a
design has depends on those before it. Everything else is divided by N. Ignores: the speed of a shared disk.
"""
import random
import statistics
import sys

ROWS_PER_DESIGN = 9  # prime9
SHARDS = (1, 2, 8, 16, 64, 256, 1000, 10_000)

# [chosen] A node's speed: log-normal around 1; one in a hundred has half of it (a busy neighbour, a throttled core).
SPEED_SIGMA = 0.05
SLOW_SHARE = 0.01
SLOW_FACTOR = 2.0
# [chosen] A node is lost once in 10,000 hours of it; the launcher starts its shard again after a minute.
NODE_HOURS_PER_LOSS = 10_000.0
RESTART_S = 60.0
# [chosen] Money: a core-hour and a GB-month in USD, round numbers to be replaced by those of the reader.
CORE_HOUR_USD = 0.04
GB_MONTH_USD = 0.02
SIMULATOR_S = 60.0  # [chosen] a user's simulator of a minute per design
SEED = 1


def read_constants(file):
    values, timed, walls = {}, {}, {}
    for line in open(file, encoding="utf-8"):
        name, *rest = line.split()
        if len(rest) == 3:
            timed.setdefault(name, []).append(tuple(float(x) for x in rest))
        elif name.endswith("_wall"):
            walls.setdefault(name, []).append(float(rest[0]) / 1000)
        else:
            values[name] = rest[0]
    return values, timed, walls


class Constants:
    def __init__(self, file):
        values, timed, walls = read_constants(file)
        self.values, self.timed, self.walls = values, timed, walls
        self.samples = int(values["samples"])
        cpu = lambda name: min(one[1] for one in timed[name])
        self.begin_s = cpu("start")
        few, many = 1_000_000, 8_000_000  # as scale.sh has them
        self.pass_s = (cpu("pass_many") - cpu("pass_few")) / (many - few)
        self.pass_bytes = (timed["pass_many"][0][2] - timed["pass_few"][0][2]) * 1024 / (many - few)
        whole = min(cpu("whole"), cpu("one"))
        self.design_s = (whole - self.begin_s) / self.samples - self.pass_s
        self.limited_pass_s = (cpu("limited_pass") - self.begin_s) / (2 * self.samples)
        self.limited_design_s = (cpu("limited") - self.begin_s) / self.samples - self.limited_pass_s
        # merge = copy * R / N + row * R * (1 - 1 / N) + log * N, from merges of 2 logs, of 64, and of 64 small ones.
        rows = ROWS_PER_DESIGN * self.samples
        few_rows = ROWS_PER_DESIGN * (self.samples // 20)
        mean_row_s = (cpu("merge_64") - cpu("merge_small")) / (rows - few_rows)  # copy / 64 + row * 63 / 64
        self.read_s = (cpu("merge_small") - few_rows * mean_row_s) / 64
        both_s = 2 * (cpu("merge_2") - 2 * self.read_s) / rows  # copy + row
        self.row_s = (mean_row_s - both_s / 64) * 64 / 62
        self.copy_s = both_s - self.row_s
        self.log_bytes = float(values["merged_bytes_2"]) / self.samples
        self.empty_log_bytes = max(0.0, (float(values["shard_bytes_64"]) - float(values["shard_bytes_2"])) / 62)

    def cpu(self, name):
        return min(one[1] for one in self.timed[name])

    def wall(self, name):
        return min(one[0] for one in self.timed[name])


def shard_s(c, designs, shards, design_s=None, pass_s=None):
    design_s = c.design_s if design_s is None else design_s
    pass_s = c.pass_s if pass_s is None else pass_s
    return c.begin_s + designs * pass_s + designs / shards * design_s


def efficiency(c, designs, shards, design_s=None, pass_s=None):
    one = shard_s(c, designs, 1, design_s, pass_s)
    return one / (shards * shard_s(c, designs, shards, design_s, pass_s))


def merge_s(c, designs, shards):
    rows = ROWS_PER_DESIGN * designs
    return c.read_s * shards + rows / shards * c.copy_s + (rows - rows / shards) * c.row_s


def simulate(c, designs, shards, design_s, stream):
    """Seconds until the last shard has ended, core-seconds, those of them that evaluate, the median shard, nodes lost."""
    ends, lost, useful_s = [], 0, 0.0
    own_s = designs / shards * (c.design_s if design_s is None else design_s)
    work_s = shard_s(c, designs, shards, design_s)
    for _ in range(shards):
        slow = SLOW_FACTOR if stream.random() < SLOW_SHARE else 1.0
        slower = stream.lognormvariate(0.0, SPEED_SIGMA) * slow
        left_s = work_s * slower
        useful_s += own_s * slower
        taken_s = 0.0
        # What was committed stays; a shard that begins again passes over the sequence again.
        while True:
            loss_s = stream.expovariate(1.0 / (NODE_HOURS_PER_LOSS * 3600))
            if loss_s >= left_s:
                break
            lost += 1
            taken_s += loss_s + RESTART_S
            left_s = left_s - loss_s + (c.begin_s + designs * c.pass_s) * slower
        ends.append(taken_s + left_s)
    return max(ends), sum(ends), useful_s, statistics.median(ends), lost


def duration(s):
    for unit, size in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if s >= 2 * size:
            return f"{s / size:.3g} {unit}"
    return f"{s:.3g} s"


def size(number):
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if number >= scale:
            return f"{number / scale:.3g} {unit}"
    return f"{number / 1e3:.3g} kB"


def table(head, rows):
    out = ["| " + " | ".join(head) + " |", "|" + "|".join("---" if i == 0 else "---:" for i in range(len(head))) + "|"]
    out += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(out)


def constants_table(c):
    rows_per_s = lambda name: ROWS_PER_DESIGN * c.samples / c.cpu(name)
    return table(
        ["constant (CPU time of one core)", "value"],
        [["a shard begins", f"{1000 * c.begin_s:.0f} ms"],
         ["a design, evaluated on nine networks and logged", f"{1e6 * c.design_s:.0f} µs"],
         ["a design of another shard, passed over", f"{1e6 * c.pass_s:.2f} µs"],
         ["the same with `--max area_mm2=100`: evaluated", f"{1e6 * c.limited_design_s:.0f} µs"],
         ["... passed over, with the candidates beyond the limit", f"{1e6 * c.limited_pass_s:.1f} µs"],
         ["memory for a design that was drawn, in every shard", f"{c.pass_bytes:.0f} bytes"],
         ["a design in a log", f"{c.log_bytes:.0f} bytes"],
         ["a log, beside its designs", size(c.empty_log_bytes)],
         ["`log merge`: a log", f"{1000 * c.read_s:.0f} ms"],
         ["`log merge`: a row of the first log, which is copied", f"{1e6 * c.copy_s:.2f} µs"],
         ["`log merge`: a row of another", f"{1e6 * c.row_s:.2f} µs ({1 / c.row_s:,.0f} rows/s)"],
         ["rows/s of merging 2 logs, 64 logs", f"{rows_per_s('merge_2'):,.0f}, {rows_per_s('merge_64'):,.0f}"],
         ["rows/s of merging them again, 2 logs, 64 logs",
          f"{rows_per_s('again_2'):,.0f}, {rows_per_s('again_64'):,.0f}"]])


def check_table(c):
    halves = sorted(one[1] for one in c.timed["half"])
    two_cpu = statistics.mean(halves[:2])
    two_wall = min(c.walls["half_wall"])
    one_model, two_model = shard_s(c, c.samples, 1), shard_s(c, c.samples, 2)
    # A process that computes all the time and waited for a tenth of it shared its processor with others.
    busy = c.wall("one") > 1.1 * c.cpu("one")
    wall = lambda text: "machine busy" if busy else text
    return table(
        [f"{c.samples:,} designs", "model", "measured", "measured, wall"],
        [["one process", duration(one_model), duration(c.cpu("one")), wall(duration(c.wall("one")))],
         ["one of two processes", duration(two_model), duration(two_cpu), wall(duration(two_wall))],
         ["efficiency of two", f"{100 * one_model / (2 * two_model):.1f} %", f"{100 * c.cpu('one') / (2 * two_cpu):.1f} %",
          wall(f"{100 * c.wall('one') / (2 * two_wall):.1f} %")],
         ["merge of 2", duration(merge_s(c, c.samples, 2)), duration(c.cpu("merge_2")),
          wall(duration(c.wall("merge_2")))],
         ["merge of 64", duration(merge_s(c, c.samples, 64)), duration(c.cpu("merge_64")),
          wall(duration(c.wall("merge_64")))]])


def clock_table(c):
    """By the clock, round by round: a machine whose speed wanders between rounds does not within one."""
    ones = [one[0] for one in c.timed["one"]]
    rounds = list(zip(ones, c.walls["half_wall"], c.walls["apart_wall"]))
    spread = lambda values: f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"
    percent = lambda values: f"{spread([100 * value for value in values])} %"
    return table(
        [f"by the clock, median (smallest to largest) of {len(rounds)} rounds", ""],
        [["one process", f"{spread(ones)} s"],
         ["two shards at once, until the later one ends", f"{spread([half for _, half, _ in rounds])} s"],
         ["efficiency of two: one / (2 * two)", percent([one / (2 * half) for one, half, _ in rounds])],
         ["what two sweeps with nothing in common keep of their speed", percent([one / two for one, _, two in rounds])],
         ["two shards against those: what sharing one sweep costs",
          percent([two / (2 * half) for _, half, two in rounds])]])


def simulated_table(c, designs, design_s=None):
    stream = random.Random(SEED)
    rows = []
    for shards in SHARDS:
        last_s, core_s, useful_s, median_s, lost = simulate(c, designs, shards, design_s, stream)
        rows.append([f"{shards:,}", duration(last_s), f"{last_s / median_s:.2f}", f"{100 * useful_s / core_s:.1f} %", lost,
                     duration(merge_s(c, designs, shards)),
                     size(designs * c.log_bytes + shards * c.empty_log_bytes), size(designs * c.pass_bytes),
                     f"{core_s / 3600 * CORE_HOUR_USD:,.2f}"])
    return table(["shards", "last shard ends", "over the median", "of the work useful", "nodes lost", "merge", "all logs",
                  "memory of a shard", "USD"], rows)


def money_table(c):
    designs = 1e9
    rows = []
    for name, design_s in (("built-in model", c.design_s), ("a simulator of a minute", SIMULATOR_S)):
        hours = designs * design_s / 3600
        rows.append([name, f"{hours:,.0f}", f"{hours * CORE_HOUR_USD:,.0f}", size(designs * c.log_bytes),
                     f"{designs * c.log_bytes / 1e9 * GB_MONTH_USD:,.1f}", duration(merge_s(c, designs, 64))])
    return table(["1e9 designs on nine networks", "core-hours", "USD of them", "log", "USD a month of it",
                  "merge of 64"], rows)


def limits_table(c):
    """Shards at which so much of the work is useful: the part of a shard that does not shrink."""
    rows = []
    for name, design_s, pass_s in (("built-in model", c.design_s, c.pass_s),
                                   ("with `--max area_mm2=100`", c.limited_design_s, c.limited_pass_s),
                                   ("a simulator of a minute", SIMULATOR_S, c.pass_s)):
        most = lambda share: max(1, int(((design_s + pass_s) / share - design_s) / pass_s))
        rows.append([name] + [f"{most(share):,}" for share in (0.95, 0.9, 0.5)] +
                    [f"{100 * efficiency(c, 1e6, 2, design_s, pass_s):.1f} %"])
    return table(["", "95 %", "90 %", "50 %", "two shards"], rows)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    c = Constants(sys.argv[1])
    print(f"Hindsight {c.values['version']}, {c.values['processors']} processors, {c.values['date']}\n")
    print(constants_table(c) + "\n")
    print("Model and measurement, CPU time of a process but for the last column:\n")
    print(check_table(c) + "\n")
    print(clock_table(c) + "\n")
    print("Shards at which so much of all work is useful, and what two reach:\n")
    print(limits_table(c) + "\n")
    print("Simulated, 1e8 designs, built-in model:\n")
    print(simulated_table(c, 1e8) + "\n")
    print("Simulated, 1e6 designs, a simulator of a minute per design:\n")
    print(simulated_table(c, 1e6, SIMULATOR_S) + "\n")
    print("Money:\n")
    print(money_table(c))


if __name__ == "__main__":
    main()
