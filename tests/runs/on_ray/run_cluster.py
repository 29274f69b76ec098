"""A real Ray cluster of two nodes with one core each, on this machine; further nodes come and go as asked.

It has a process of its own, because Ray forks, and tests have threads. Prints its address and that of its client
server, then reads one command per line and answers `done`.
"""

import os
import socket
import sys

from recombine.runs.on_ray.cluster import QUIET

FAST_HEARTBEATS = {  # a dead node is noticed in two seconds instead of thirty
    "health_check_initial_delay_ms": 500,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 500,
    "health_check_failure_threshold": 3,
    "gcs_rpc_server_reconnect_timeout_s": 12,  # and nodes end soon after their head, instead of in a minute
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    from ray.cluster_utils import Cluster

    port = free_port()
    head = {"num_cpus": 1, "include_dashboard": False, "ray_client_server_port": port}
    cluster = Cluster(initialize_head=True, head_node_args=head | {"_system_config": FAST_HEARTBEATS})
    cluster.add_node(num_cpus=1)
    print(cluster.address, f"ray://127.0.0.1:{port}", flush=True)
    extra = []
    for line in sys.stdin:
        match line.strip():
            case "add node":
                extra.append(cluster.add_node(num_cpus=1))
            case "kill node":
                cluster.remove_node(extra.pop(), allow_graceful=False)
            case "kill head":
                cluster.head_node.kill_gcs_server(check_alive=False)
        print("done", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
