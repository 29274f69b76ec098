"""A driver in a process of its own: runs trials of one kind, and prints what became of them as one line of JSON."""

import hashlib
import json
import sys

from recombine.errors import InputError, StoreError
from recombine.parts import Part
from recombine.runs import ExecutionError, Failed, Finished, Store, Trial, complete


def logged(order):
    """Trials that end only when the gate is open, except the first `free`."""
    for i in range(order["count"]):
        gate = order["log"] + ".gate" if i >= order.get("free", 0) else ""
        yield probing("logged", log=order["log"], label=i, gate=gate)


def mixed(order):
    """Most trials work, one raises, and one kills its process."""
    yield probing("killed")
    yield probing("failing")
    for i in range(4):
        yield probing("logged", log=order["log"], label=i)


def changed(order):
    """A trial whose code changes after the driver has computed its key."""
    path = order["module"]
    sys.path.insert(0, path.rpartition("/")[0])
    trial = probing("logged", log=order["log"], function="changing_part:probe")
    assert trial.key
    with open(path, "a") as file:
        file.write("\nCHANGED = 1\n")
    yield trial


def trained(order):
    """Two programs with different numbers."""
    from recombine import nets
    from recombine.training import Recipe, adam

    for width in (4, 8):
        for rate in (1e-2, 1e-3):
            for seed in range(2):
                yield Trial(
                    Part("trained_parts:sums", n=3),
                    probes=(Part("trained_parts:outputs"),),
                    seeds=(seed,),
                    net=Part(nets.mlp, inputs=6, width=width, depth=1, outputs=1),
                    recipe=Recipe(steps=30, batch=4, optimiser=adam(rate)),
                )


def in_script(order):
    yield Trial(Part("counting_parts:numbers"), probes=(Part(own_probe),), seeds=(0,))


def own_probe(task):
    return {"n": 1}


def probing(name, *, function="", **settings):
    probe = Part(function or f"counting_parts:{name}", **settings)
    return Trial(Part("counting_parts:numbers", n=2), probes=(probe,), seeds=(0,))


def main():
    order = json.loads(sys.argv[1])
    if order.get("version"):
        from recombine.runs.on_ray import driver

        driver.__version__ = order["version"]
    found = {"finished": {}, "failed": {}, "from_store": 0}

    def note(event):
        if isinstance(event, Finished):
            digest = hashlib.sha256()
            for arrays in (event.result.values, event.result.curves):
                for name, array in sorted(arrays.items()):
                    digest.update(name.encode() + str(array.dtype).encode() + array.tobytes())
            found["finished"][event.result.key] = digest.hexdigest()
            found["from_store"] += event.from_store
        elif isinstance(event, Failed):
            found["failed"][event.trial.probes[0].name.rpartition(":")[2]] = event.error

    trials = {
        "logged": logged,
        "mixed": mixed,
        "changed": changed,
        "trained": trained,
        "in_script": in_script,
    }
    try:
        complete(
            trials[order["kind"]](order),
            Store(order["store"]),
            on=order["on"],
            jobs=order.get("jobs", 0),
            shared_store=order.get("shared_store", False),
            retries=order.get("retries", 0),
            on_event=note,
        )
    except (ExecutionError, InputError, StoreError) as error:
        found["error"] = f"{type(error).__name__}: {error}"
    print(json.dumps(found))


if __name__ == "__main__":
    main()
