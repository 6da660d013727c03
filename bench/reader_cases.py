"""Files at the bounds of docs/limits.md, and the words of the verb that reads each: the cases of reader_time.py.

A case writes its files to a folder and returns the words. Its description may hold {mib} and {rows}, options of the
program; one that ends in "refused" is beyond a bound.
"""
import gzip
import hashlib
import json
import os
import sqlite3
import struct
import zipfile

MIB = 1 << 20

CASES = []


def case(group, what):
    """Registers a function that writes files to a folder and gives the words of the verb."""

    def register(make):
        CASES.append((group, what, make))
        return make

    return register


def fill(path, head, piece, size, tail=""):
    """`head`, then `piece` again and again until the file has `size` bytes, then `tail`."""
    block = (piece * (65536 // max(len(piece), 1) + 1)).encode()
    with open(path, "wb") as out:
        out.write(head.encode())
        while out.tell() + len(block) < size:
            out.write(block)
        out.write(tail.encode())
    return str(path)


def text(path, content):
    path.write_text(content)
    return str(path)


def imported(path, *more):
    return ["log", "import", str(path), "--log", "new.sqlite", *more]


def network(path, *more):
    return ["workload", "import", str(path), *more]


# YAML

def parameters(count, values="[1, 2, 3]"):
    return "".join(f"  - {{name: p{i}, unit: none, values: {values}}}\n" for i in range(count))


LEVELS = "[" + ",".join(map(str, range(65535))) + "]"


@case("yaml", "a space of 15 parameters of 65,535 values: 1,000,000 values")
def _(folder, _o):
    return ["space", "show", text(folder / "s.yaml", "name: s\nparameters:\n" + parameters(15, LEVELS))]


@case("yaml", "a space of 4,096 parameters: counted")
def _(folder, _o):
    return ["space", "count", text(folder / "s.yaml", "name: s\nparameters:\n" + parameters(4096))]


def long_constraints(folder, verb):
    chain = " + ".join(f"p{i % 4096}" for i in range(2047))
    rules = "".join(f"  - {chain} < {100000 + i}\n" for i in range(900))
    return ["space", verb, text(folder / "s.yaml", "name: s\nparameters:\n" + parameters(4096) + "constraints:\n"
        + rules)]


@case("yaml", "900 constraints of 4,096 operations over 4,096 parameters: shown")
def _(folder, _o):
    return long_constraints(folder, "show")


@case("yaml", "the same: checked")
def _(folder, _o):
    return long_constraints(folder, "check")


@case("yaml", "65,535 constraints on a parameter of 65,535 values: shown")
def _(folder, _o):
    rules = "".join(f"  - p0 < {i + 70000}\n" for i in range(65535))
    return ["space", "show", text(folder / "s.yaml", "name: s\nparameters:\n" + parameters(1, LEVELS)
        + "constraints:\n" + rules)]


@case("yaml", "65,535 derived quantities, each of the one before")
def _(folder, _o):
    rules = "  d0: p0\n" + "".join(f"  d{i}: d{i - 1} + 1\n" for i in range(1, 65535))
    return ["space", "show", text(folder / "s.yaml", "name: s\nparameters:\n" + parameters(1) + "derived:\n" + rules)]


@case("yaml", "a workload of 65,535 layers")
def _(folder, _o):
    layer = "  - {name: l%d, type: fully_connected, rows: 1, reduction: 8, columns: 8}\n"
    layers = "".join(layer % i for i in range(65535))
    return ["workload", "show", text(folder / "w.yaml", "format: 1\nname: w\nlayers:\n" + layers)]


def values_in(key):
    return f"{key}:\n" + "".join(f"  k{i}: [{','.join('1' * 60000)}]\n" for i in range(16))


@case("yaml", "a technology of 960,000 values, refused")
def _(folder, _o):
    return ["simulate", "--design", "coral_edge_tpu", "--workload", "m4", "--technology", text(folder / "t.yaml",
        values_in("name"))]


@case("yaml", "a GPU sheet of 960,000 values, refused")
def _(folder, _o):
    return ["gemm", "--gpu", text(folder / "g.yaml", values_in("name")), "-m", "8", "-n", "8", "-k", "8"]


@case("yaml", "defaults of 960,000 values, refused")
def _(folder, _o):
    text(folder / ".hindsight.yaml", values_in("all"))
    return ["space", "list"]


@case("yaml", "a recipe of 960,000 values, refused")
def _(folder, o):
    return ["train", "--log", small_log(folder, o), "--recipe", text(folder / "r.yaml", values_in("name")), "--out",
        "m.safetensors"]


@case("yaml", "a text of 16 MiB, refused")
def _(folder, _o):
    return ["space", "show", fill(folder / "s.yaml", "name: ", "x y ", 16 * MIB - 70000)]


@case("yaml", "16 MiB of comments, refused")
def _(folder, _o):
    return ["space", "show", fill(folder / "s.yaml", "", "# a comment\n", 16 * MIB - 70000)]


# Tables

def table(path, rows, columns=10, width=6):
    with open(path, "w") as out:
        out.write(",".join(f"c{i}" for i in range(columns)) + ",y\n")
        line = ",".join(str(i * 7 % 10**(width - 1)).zfill(width - 1)[: width - 1] for i in range(columns))
        for begin in range(0, rows, 1000):
            out.write("".join(f"{line},{i}.5\n" for i in range(begin, min(begin + 1000, rows))))
    return str(path)


@case("csv", "{mib} MiB of 11 columns, to be a log (designs repeat: refused as contradictory)")
def _(folder, o):
    return imported(table(folder / "t.csv", o.mib * MIB // 68), "--objective", "y")


@case("csv", "300,000 designs of 3 columns, stored")
def _(folder, _o):
    path = folder / "t.csv"
    path.write_text("a,b,c,y\n" + "".join(f"{i % 100},{i // 100 % 100},{i // 10000},{i}.5\n" for i in range(300000)))
    return imported(path, "--objective", "y")


@case("csv", "10,000 columns, 100 rows")
def _(folder, _o):
    return ["space", "infer", table(folder / "t.csv", 100, 9999, 3)]


@case("csv", "4,000 columns whose names are one in small letters")
def _(folder, _o):
    names = ",".join("a" + "!" * (i + 1) for i in range(4000))
    return ["space", "infer", text(folder / "t.csv", names + "\n" + ",".join("1" * 4000) + "\n" + ",".join("2" * 4000)
        + "\n")]


@case("csv", "20 columns of 65,535 names each")
def _(folder, _o):
    path = folder / "t.csv"
    with open(path, "w") as out:
        out.write(",".join(f"c{i}" for i in range(20)) + ",y\n")
        for i in range(131070):
            out.write(",".join(f"n{(i * 31 + j) % 65535}" for j in range(20)) + ",1\n")
    return imported(path, "--objective", "y", "--duplicates", "first")


@case("csv", "64 cells of 1 MiB")
def _(folder, _o):
    cell = "x" * (MIB - 2)
    return ["space", "infer", text(folder / "t.csv", "a,b\n" + "".join(f"{i}{cell},1\n" for i in range(64)))]


# JSON of others

def objects(count, make):
    return ",".join(json.dumps(make(i)) for i in range(count))


@case("json", "a list of 240,000 objects")
def _(folder, _o):
    return imported(text(folder / "l.json", "[" + objects(240000, lambda i: {"a": i % 500, "b": i // 500, "y": i})
        + "]"), "--objective", "y")


@case("json", "lines, {mib} MiB")
def _(folder, o):
    path = folder / "l.jsonl"
    with open(path, "w") as out:
        for i in range(o.mib * MIB // 40):
            out.write('{"a": %d, "b": %d, "y": %d.5}\n' % (i % 1000 + 1000, i // 1000 % 1000 + 1000, i))
    return imported(path, "--objective", "y", "--duplicates", "first")


@case("json", "one object of 490,000 names, refused")
def _(folder, _o):
    return imported(text(folder / "l.json", "{" + ",".join(f'"k{i}":1' for i in range(490000)) + "}"), "--objective",
        "k1")


@case("json", "one object of 40,000 names")
def _(folder, _o):
    return imported(text(folder / "l.json", "{" + ",".join(f'"k{i}":1' for i in range(40000)) + "}"), "--objective",
        "k1")


@case("json", "330,000 objects with a name of their own each, refused")
def _(folder, _o):
    return imported(text(folder / "l.json", "[" + objects(330000, lambda i: {f"k{i}": 1}) + "]"), "--objective", "k1")


@case("json", "Kernel Tuner: 190,000 configurations")
def _(folder, _o):
    cache = {f"{i},1": {"a": i % 500, "b": i // 500, "time": i} for i in range(190000)}
    return imported(text(folder / "k.json", json.dumps({"tune_params_keys": ["a", "b"], "objective": "time",
        "cache": cache})))


@case("json", "Kernel Tuner: 300,000 parameters and as many metrics, refused")
def _(folder, _o):
    names = [f"p{i}" for i in range(300000)]
    entry = {f"m{i}": 1 for i in range(300000)}
    return imported(text(folder / "k.json", json.dumps({"tune_params_keys": names, "cache": {"1": entry}})))


@case("json", "Vizier: 70,000 trials")
def _(folder, _o):
    make = lambda i: {"state": "SUCCEEDED", "parameters": [{"parameter_id": "a", "value": i % 300},
        {"parameter_id": "b", "value": i // 300}],
                      "final_measurement": {"metrics": [{"metric_id": "y", "value": i}]}}
    return imported(text(folder / "v.json", "[" + objects(70000, make) + "]"))


@case("json", "Vizier: 150,000 metrics of one trial, refused")
def _(folder, _o):
    trial = {"state": "SUCCEEDED", "parameters": [{"parameter_id": "a", "value": 1}],
             "final_measurement": {"metrics": [{"metric_id": f"m{i}", "value": i} for i in range(150000)]}}
    return imported(text(folder / "v.json", json.dumps([trial])))


@case("json", "Ax: 60,000 trials, 100,000 parameters of the search space")
def _(folder, _o):
    trials = {str(i): {"status": {"name": "COMPLETED"}, "generator_run": {"arms": [{"name": f"{i}_0",
        "parameters": {"p0": i % 300, "p1": i // 300}}]}}
              for i in range(60000)}
    space = {"parameters": [{"name": f"p{i}"} for i in range(100000)]}
    return imported(text(folder / "a.json", json.dumps({"search_space": space, "trials": trials})), "--objective", "y")


@case("json", "rows of log export as JSON lines: 200,000 of as many applications")
def _(folder, _o):
    path = folder / "e.jsonl"
    with open(path, "w") as out:
        for i in range(200000):
            out.write(json.dumps({"workload": f"w{i}", "evaluator": "e", "repeat": 0, "design": {"a": i % 500},
                "feasible": True,
                                  "metrics": {"latency_s": 1.0}, "reasons": []}) + "\n")
    return imported(path)


@case("json", "Optuna's journal: one trial of 500,000 parameters, refused")
def _(folder, _o):
    path = folder / "j.log"
    with open(path, "w") as out:
        out.write('{"op_code": 0, "worker_id": "w", "study_name": "s", "directions": [1]}\n')
        out.write('{"op_code": 4, "worker_id": "w", "study_id": 0}\n')
        for i in range(500000):
            out.write('{"op_code": 5, "worker_id": "w", "trial_id": 0, "param_name": "p%d", '
                '"param_value_internal": 1.0, "distribution": "{}"}\n' % i)
        out.write('{"op_code": 6, "worker_id": "w", "trial_id": 0, "state": 1, "values": [1.0]}\n')
    return imported(path)


@case("json", "Optuna's journal: 300,000 studies, refused")
def _(folder, _o):
    path = folder / "j.log"
    with open(path, "w") as out:
        for i in range(300000):
            out.write('{"op_code": 0, "worker_id": "w", "study_name": "s%d", "directions": [1]}\n' % i)
    return imported(path)


# Packed files

def gzipped_rows(path, rows):
    with gzip.open(path, "wb", 6) as out:
        out.write(b"a,b,y\n" + b"1,2,3\n" * rows)
    return imported(path, "--objective", "y")


@case("packed", "gzip: 99 MiB of a table in 0.1 MiB, refused")
def _(folder, _o):
    return gzipped_rows(folder / "b.csv.gz", 99 * MIB // 6)


@case("packed", "gzip: 10,000,000 cells of a table in 29 KiB")
def _(folder, _o):
    return gzipped_rows(folder / "b.csv.gz", 3_333_333)


@case("packed", "gzip without end, refused")
def _(folder, _o):
    path = folder / "b.csv.gz"
    with gzip.open(path, "wb", 1) as out:
        for _ in range(400):
            out.write(b"\0" * MIB)
    return imported(path, "--objective", "y")


@case("packed", "zip: 99 MiB of a table in 0.1 MiB, refused")
def _(folder, _o):
    path = folder / "b.csv.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("b.csv", b"a,b,y\n" + b"1,2,3\n" * (99 * MIB // 6))
    return imported(path, "--objective", "y")


# SQLite

def optuna(path, trials, note=0):
    database = sqlite3.connect(path)
    database.executescript("""
CREATE TABLE studies(study_id INTEGER PRIMARY KEY, study_name TEXT);
CREATE TABLE study_directions(study_direction_id INTEGER PRIMARY KEY, direction TEXT, study_id INTEGER,
    objective INTEGER);
CREATE TABLE study_user_attributes(study_user_attribute_id INTEGER PRIMARY KEY, study_id INTEGER, key TEXT,
    value_json TEXT);
CREATE TABLE study_system_attributes(study_system_attribute_id INTEGER PRIMARY KEY, study_id INTEGER, key TEXT,
    value_json TEXT);
CREATE TABLE trials(trial_id INTEGER PRIMARY KEY, number INTEGER, study_id INTEGER, state TEXT, datetime_start TEXT,
    datetime_complete TEXT);
CREATE TABLE trial_params(param_id INTEGER PRIMARY KEY, trial_id INTEGER, param_name TEXT, param_value REAL,
    distribution_json TEXT);
CREATE TABLE trial_values(trial_value_id INTEGER PRIMARY KEY, trial_id INTEGER, objective INTEGER, value REAL,
    value_type TEXT);
CREATE TABLE trial_user_attributes(trial_user_attribute_id INTEGER PRIMARY KEY, trial_id INTEGER, key TEXT,
    value_json TEXT);
CREATE TABLE trial_system_attributes(trial_system_attribute_id INTEGER PRIMARY KEY, trial_id INTEGER, key TEXT,
    value_json TEXT);
CREATE TABLE trial_intermediate_values(trial_intermediate_value_id INTEGER PRIMARY KEY, trial_id INTEGER,
    step INTEGER, intermediate_value REAL, intermediate_value_type TEXT);
CREATE TABLE version_info(version_info_id INTEGER PRIMARY KEY, schema_version INTEGER, library_version TEXT);
CREATE TABLE alembic_version(version_num TEXT);
INSERT INTO alembic_version VALUES('v3.2.0.a'); INSERT INTO version_info VALUES(1, 12, '4.0.0');
INSERT INTO studies VALUES(1, 's'); INSERT INTO study_directions VALUES(1, 'MINIMIZE', 1, 0);
""")
    kind = '{"name": "IntDistribution", "attributes": {"log": false, "step": 1, "low": 0, "high": 1000}}'
    database.executemany("INSERT INTO trials VALUES(?, ?, 1, 'COMPLETE', NULL, NULL)", ((i + 1,
        i) for i in range(trials)))
    database.executemany(
        "INSERT INTO trial_params(trial_id, param_name, param_value, distribution_json) VALUES(?, ?, ?, ?)",
                         ((i + 1, name, value, kind) for i in range(trials) for name, value in (("a", i % 500), ("b",
                             i // 500))))
    database.executemany("INSERT INTO trial_values(trial_id, objective, value, value_type) VALUES(?, 0, ?, 'FINITE')",
                         ((i + 1, float(i)) for i in range(trials)))
    if note:
        database.execute("INSERT INTO trial_user_attributes VALUES(1, 1, 'note', ?)", ('"' + "x" * note + '"',))
    database.commit()
    database.close()
    return str(path)


@case("sqlite", "Optuna's file of 200,000 trials")
def _(folder, _o):
    return imported(optuna(folder / "o.db", 200000))


@case("sqlite", "Optuna's file with a text of 63 MiB")
def _(folder, _o):
    return imported(optuna(folder / "o.db", 100, 63 * MIB))


def small_log(folder, o, samples=5):
    path = folder / f"log{samples}.sqlite"
    quiet(o, folder, ["sweep", "--space", "edge" if samples > 1000 else "tiny", "--workloads", "m4", "--samples",
        str(samples), "--log", str(path), "--quiet"])
    return str(path)


def quiet(o, folder, words):
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        os.execv(o.program, [o.program] + words)
    os.waitpid(child, 0)


def changed(folder, o, sql):
    path = small_log(folder, o)
    database = sqlite3.connect(path)
    database.execute("PRAGMA writable_schema=1")
    database.execute(sql)
    database.commit()
    database.close()
    return path


@case("log", "the definition of a space of 63 MiB: shown")
def _(folder, o):
    return ["log", "show", changed(folder, o, "UPDATE spaces SET definition = printf('%.*c', 66000000, 'x')")]


@case("log", "options of a run: one object of 490,000 names, shown")
def _(folder, o):
    path = small_log(folder, o)
    database = sqlite3.connect(path)
    database.execute("UPDATE runs SET options_json = ?", ("{" + ",".join(f'"k{i}":1' for i in range(490000)) + "}",))
    database.commit()
    database.close()
    return ["log", "show", path, "--json"]


def large(folder, o):
    return small_log(folder, o, o.rows)


for verb in ("show", "stats", "hash", "verify"):
    @case("log", f"{{rows:,}} rows: log {verb}")
    def _(folder, o, verb=verb):
        return ["log", verb, large(folder, o)]


@case("log", "{rows:,} rows: log export")
def _(folder, o):
    return ["log", "export", large(folder, o), "--format", "csv", "--out", "x.csv"]


@case("log", "{rows:,} rows: log backup")
def _(folder, o):
    return ["log", "backup", large(folder, o), "--out", "x.sqlite"]


@case("log", "{rows:,} rows: log merge")
def _(folder, o):
    return ["log", "merge", large(folder, o), "--out", "x.sqlite"]


@case("log", "{rows:,} rows: log query without end")
def _(folder, o):
    return ["log", "query", large(folder, o),
        "SELECT count(*) FROM evaluations a, evaluations b WHERE a.latency_s < b.latency_s"]


@case("log", "{rows:,} rows: report")
def _(folder, o):
    return ["report", "--log", large(folder, o), "--out", "x.html"]


@case("log", "{rows:,} rows: train, read and refused by --dry-run")
def _(folder, o):
    return ["train", "--log", large(folder, o), "--workloads", "m4", "--out", "m.safetensors", "--dry-run"]


def damaged(path):
    with open(path, "r+b") as file:
        size = file.seek(0, 2)
        for page in range(1, size // 4096, 7):
            file.seek(page * 4096)
            file.write(os.urandom(64))
    return path


@case("log", "{rows:,} rows, every seventh page damaged: log repair")
def _(folder, o):
    return ["log", "repair", damaged(large(folder, o)), "--out", "x.sqlite"]


# Networks

def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def whole(number, value):
    return varint(number << 3) + varint(value)


def node(kind, inputs, outputs):
    return field(1, b"".join(field(1, i.encode()) for i in inputs) + b"".join(field(2, i.encode()) for i in outputs)
        + field(4, kind.encode()))


def tensor_type(dims):
    shape = b"".join(field(1, whole(1, d)) for d in dims)
    return field(1, whole(1, 1) + field(2, shape))


def onnx(path, nodes, extra=b"", functions=b""):
    graph = b"".join(nodes) + extra + field(11, field(1, b"x") + field(2, tensor_type([1, 64])))
    path.write_bytes(whole(1, 8) + field(7, graph) + field(8, whole(2, 17)) + functions)
    return network(path)


def initializer(name, dims, values):
    return field(5, b"".join(whole(1, d) for d in dims) + whole(2, 7) + field(8, name.encode()) + field(9,
        struct.pack(f"<{len(values)}q", *values)))


@case("onnx", "1,000,000 nodes in a chain, no layer (refused)")
def _(folder, _o):
    return onnx(folder / "n.onnx", [node("Relu", [f"t{i}" if i else "x"], [f"t{i + 1}"]) for i in range(1000000)])


@case("onnx", "200,000 products, refused")
def _(folder, _o):
    weights = field(5, whole(1, 64) + whole(1, 64) + whole(2, 1) + field(8, b"w") + field(9, b"\0" * 16384))
    return onnx(folder / "n.onnx", [node("MatMul", [f"t{i}" if i else "x", "w"],
        [f"t{i + 1}"]) for i in range(200000)], weights)


@case("onnx", "1,000,000 operators that nobody knows (refused)")
def _(folder, _o):
    return onnx(folder / "n.onnx", [node(f"Q{i}", ["x"], [f"t{i}"]) for i in range(1000000)])


@case("onnx", "1,000,000 additions of 4,096 numbers (refused)")
def _(folder, _o):
    return onnx(folder / "n.onnx", [node("Add", ["c", "c"], [f"t{i}"]) for i in range(1000000)], initializer("c",
        [4096], range(4096)))


@case("onnx", "100,000 calls of a function of 100,000 operators (refused)")
def _(folder, _o):
    body = b"".join(field(7, field(4, b"U%d" % i)) for i in range(100000))
    return onnx(folder / "n.onnx", [node("F", ["x"], [f"t{i}"]) for i in range(100000)], b"", field(25, field(1, b"F")
        + body))


SCALE_SIM = "Layer,IFMAP Height,IFMAP Width,Filter Height,Filter Width,Channels,Num Filter,Strides,\n"
LAYER_TABLE = "name,type,count,H,W,C,K,R,S,stride,pad,groups,P,Q,M,N,Kd,macs,params\n"


@case("network", "SCALE-Sim: 16 MiB, refused")
def _(folder, _o):
    return network(fill(folder / "n.csv", SCALE_SIM, "a,8,8,1,1,8,8,1,\n", 16 * MIB))


@case("network", "SCALE-Sim: 65,535 layers")
def _(folder, _o):
    return network(text(folder / "n.csv", SCALE_SIM + "a,8,8,1,1,8,8,1,\n" * 65535))


@case("network", "a layer table: 16 MiB, refused")
def _(folder, _o):
    return network(fill(folder / "n.csv", LAYER_TABLE, "a,fc,1,,,,,,,,,,,,1,8,8,64,64\n", 16 * MIB))


@case("network", "a layer table: 65,535 layers")
def _(folder, _o):
    return network(text(folder / "n.csv", LAYER_TABLE + "a,fc,1,,,,,,,,,,,,1,8,8,64,64\n" * 65535))


@case("network", "MAESTRO: 64 MiB, refused")
def _(folder, _o):
    layer = "Layer a {\nType: CONV\nDimensions { K: 8, C: 8, R: 1, S: 1, Y: 8, X: 8 }\n}\n"
    return network(fill(folder / "n.m", "Network n {\n", layer, 64 * MIB - 1000, "}\n"))


@case("network", "MAESTRO: 63 MiB of brackets, refused")
def _(folder, _o):
    return network(fill(folder / "n.m", "Network n { Layer a ", "{", 63 * MIB))


@case("network", "Timeloop: a problem of 65,000 loops, refused")
def _(folder, _o):
    loops = ",".join(f"L{i}" for i in range(65000))
    sizes = "".join(f"    L{i}: 2\n" for i in range(65000))
    shape = f"problem:\n  shape:\n    dimensions: [{loops}]\n    data-spaces:\n"
    for name in ("Weights", "Inputs", "Outputs"):
        projection = ",".join(f"[[L{i}]]" for i in range(20000))
        written = ", read-write: true" if name == "Outputs" else ""
        shape += f"      - {{name: {name}, projection: [{projection}]{written}}}\n"
    return network(text(folder / "n.yaml", shape + "  instance:\n" + sizes), "--format", "timeloop")


@case("network", "ZigZag: 50,000 layers")
def _(folder, _o):
    layer = ("- {id: %d, operator_type: Gemm, equation: 'O[b][k]+=W[k][c]*I[b][c]', loop_dims: [B, K, C], "
        "loop_sizes: [1, 8, 8]}\n")
    return network(text(folder / "n.yaml", "".join(layer % i for i in range(50000))), "--format", "zigzag")


@case("network", "ZigZag: a layer of 60,000 loops and 700,000 indices, refused")
def _(folder, _o):
    indices = "".join(f"[l{i % 60000}]" for i in range(700000))
    loops = ",".join(f"L{i}" for i in range(60000))
    return network(text(folder / "n.yaml",
        f"- {{id: 1, operator_type: G, equation: 'O{indices}+=W[a]*I[b]', loop_dims: [{loops}], "
        f"loop_sizes: [{','.join('2' * 60000)}]}}\n"), "--format", "zigzag")


# Models, and what is ours

def model(path, header, data=b""):
    start = b'{"__metadata__":{"header_sha256":"'
    content = bytearray(start + b"0" * 64 + header)
    content[len(start):len(start) + 64] = hashlib.sha256(content).hexdigest().encode()
    path.write_bytes(struct.pack("<Q", len(content)) + content + data)
    return ["model", "show", str(path)]


@case("model", "a header of 480,000 tensors in one object, refused")
def _(folder, _o):
    tensors = ",".join(f'"t{i}":0' for i in range(480000))
    return model(folder / "given.safetensors", b'","format_version":"1","data_sha256":"0","model":"{}"},'
        + tensors.encode() + b"}")


@case("model", "a header of 100 MB, 990,000 values in a list, refused")
def _(folder, _o):
    values = ",".join(["%-99d" % 1] * 990000)
    return model(folder / "given.safetensors", b'","format_version":"1","data_sha256":"0","model":"{}"},"t":['
        + values.encode() + b"]}")


@case("model", "512 MiB of data under a checksum, refused")
def _(folder, _o):
    return model(folder / "given.safetensors",
        b'","format_version":"1","data_sha256":"0","model":"{}"},'
        b'"t":{"dtype":"F32","shape":[134217728],"data_offsets":[0,536870912]}}', b"\0" * (512 * MIB))


@case("ours", "propose --json with 990,000 names, refused")
def _(folder, _o):
    return ["check", "--file", text(folder / "p.json", "{" + ",".join(f'"k{i}":1' for i in range(990000)) + "}")]


@case("ours", "an evaluator's answer of 1 MiB: 95,000 metrics, refused")
def _(folder, _o):
    answer = text(folder / "answer.json", '{"id":1,"metrics":{' + ",".join(f'"k{i}":1' for i in range(95000)) + "}}\n")
    return ["sweep", "--space", "tiny", "--workloads", "m4", "--samples", "1", "--evaluator", "cat " + answer,
        "--evaluator-faults", "stop",
            "--evaluator-metrics", "latency_s", "--log", "new.sqlite"]


@case("ours", "a table of 2,000,000 products: gemm --csv")
def _(folder, _o):
    return ["gemm", "--gpu", "h200", "--csv", fill(folder / "g.csv", "m,n,k\n", "1024,1024,1024\n", 30 * MIB),
        "--format", "csv", "--out", "x.csv"]


@case("ours", "measurements of a GPU: 64 MiB of JSON lines, refused")
def _(folder, _o):
    return ["measure", "import", fill(folder / "m.jsonl", "", '{"record":"gemm"}\n', 63 * MIB), "--log", "new.sqlite"]


@case("ours", "a landscape: its beginning, then zeros, refused")
def _(folder, o):
    path = folder / "small.landscape"
    quiet(o, folder, ["optimum", "--all", "--space", "tiny", "--workloads", "m4", "--out", str(path)])
    if path.exists():
        with open(path, "r+b") as file:
            file.truncate(1 << 32)
    return ["join", str(path), "--out", "x.landscape"]
