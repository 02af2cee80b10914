"""``portpart compile``: compiles code before it is needed."""

from __future__ import annotations

import click

from portpart.cli import options
from portpart.cli.output import grouped, print_facts, print_json
from portpart.errors import InputError, shown


@click.command("compile")
@click.option("--device", default="cpu", show_default=True, help="cpu, cuda, cuda:1 ...")
@click.option("--arch", metavar="CAPABILITIES",
              help="Compute capabilities, as 80,90; no GPU is needed.")
@click.option("--kinds", metavar="NAMES", default="mesh,web,circuit,matrix,edges",
              show_default=True, help="Kinds of graphs; edges: partitions of the edges of graphs.")
@click.option("--presets", metavar="NAMES", default="fast,default", show_default=True)
@click.option("--ranks", is_flag=True, help="Also for several GPUs that work together.")
@options.quiet_option
@options.json_option
def command(device: str, arch: str | None, kinds: str, presets: str, ranks: bool, quiet: bool,
            as_json: bool) -> None:
    """Compile the kernels for partitions of common graphs in advance.

    The code goes to the first writable folder of $PORTPART_CACHE_DIR, which containers and
    clusters may ship. Processes read from all folders listed there.
    """
    from portpart.api import compile_for_cpu, compile_for_gpu
    from portpart.base import cache_folder
    from portpart.cli.process import counted

    if arch is not None and not device.startswith("cuda"):
        raise click.UsageError("--arch needs --device cuda")
    if ranks and not device.startswith("cuda"):
        raise click.UsageError("--ranks needs --device cuda")
    if device.partition(":")[0] not in ("cpu", "cuda"):
        raise click.UsageError(f"--device is {shown(device)}; it must be cpu, cuda or cuda:1 ...")
    chosen, names = kinds.split(","), presets.split(",")
    made = {}
    if device.startswith("cuda"):
        for capability in _capabilities(arch, device):
            with counted(quiet, f"compute capability {capability / 10}") as report:
                made[f"sm_{capability}"] = compile_for_gpu(capability, chosen, names, report, ranks)
    else:
        with counted(quiet, "calls") as report:
            made["cpu"] = compile_for_cpu(chosen, names, report)
    folder = str(cache_folder.cache_folders()[0])
    if as_json:
        print_json({"folder": folder, **{name: vars(each) for name, each in made.items()}})
        return
    print_facts({"folder": folder, **{
        name: f"{grouped(each.modules)} files, {each.num_bytes / 1e6:,.1f} MB, "
              f"{each.seconds:.1f} s" for name, each in made.items()}})


def _capabilities(arch: str | None, device: str) -> list[int]:
    if arch is None:
        from portpart.backends import space

        return [space(device).kernels.modules.capability]  # type: ignore[attr-defined]
    try:
        return [int(each.strip().removeprefix("sm_")) for each in arch.split(",")]
    except ValueError:
        raise InputError(f"--arch is {shown(arch)}; it lists numbers as in 80,90") from None
