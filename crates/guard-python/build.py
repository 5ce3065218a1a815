#!/usr/bin/env python3
"""Builds the wheel of the package, with the command `guardc` in it:

    build.py [--release] FOLDER

It needs `maturin` beside this interpreter, or on the path. The command is a script of the wheel, so that `pip install guardc`, `uvx guardc`
and `pipx run guardc` have it; a wheel that `maturin build` makes alone has the package only.
"""
import json, os, pathlib, shutil, subprocess, sys

HERE = pathlib.Path(__file__).resolve().parent
COMMAND = "guardc.exe" if os.name == "nt" else "guardc"
CARGO = os.environ.get("CARGO", "cargo")


def run(*command, **options):
    return subprocess.run(command, check=True, cwd=HERE, **options)


def main(release, folder):
    run(CARGO, "build", "--locked", "--quiet", "--package", "guardc-cli", *(["--release"] if release else []), stdout=subprocess.DEVNULL)
    metadata = json.loads(run(CARGO, "metadata", "--format-version=1", "--no-deps", "--locked", stdout=subprocess.PIPE).stdout)
    scripts = HERE / "guardc.data" / "scripts"
    scripts.mkdir(exist_ok=True)
    shutil.copy2(pathlib.Path(metadata["target_directory"], "release" if release else "debug", COMMAND), scripts / COMMAND)
    beside = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    maturin = shutil.which("maturin", path=beside) or sys.exit("build.py: there is no maturin")
    try:
        run(maturin, "build", "--locked", "--quiet", "--profile", "release" if release else "dev", "--out", pathlib.Path(folder).resolve())
    finally:
        shutil.rmtree(scripts)


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if argument != "--release"]
    if len(given) != 1:
        sys.exit(__doc__)
    main("--release" in sys.argv, given[0])
