"""The SSH signature of a certificate: by a key of the user, in a file or in the agent."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import which

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.registry import late


def signature(data: bytes, key: str) -> bytes:
    """Return the signature of some bytes; a key with a passphrase asks for it on the terminal.

    Parameters
    ----------
    data : bytes
        What is signed.
    key : str
        The file of a private key, or that of a public key whose private half an agent has.

    Raises
    ------
    InputError, ParameterError
        When there is no ssh-keygen, or no such key, or it does not sign.
    """
    program, path = which("ssh-keygen"), Path(key).expanduser().absolute()
    if program is None:
        raise InputError(
            "certify-release, --key", "OpenSSH signs the certificate", "no ssh-keygen",
            "Install OpenSSH, or write a certificate that nobody vouches for with --unsigned",
        )  # fmt: skip
    if not path.is_file():
        got, do = f"no file {key!r}", "Make one with: ssh-keygen -t ed25519. Of a key in an agent, name the .pub file"
        raise ParameterError("certify-release, --key", "names an SSH key", got, do)
    words = [program, "-Y", "sign", "-n", late("sqlmicro.verify", "NAMESPACE"), "-f", str(path)]
    done = subprocess.run(words, input=data, capture_output=True, check=False)
    if done.returncode != 0 or not done.stdout.startswith(b"-----BEGIN SSH SIGNATURE"):
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["nothing"]
        raise InputError("certify-release, --key", "must be a key that signs", f"from ssh-keygen: {said[-1]}")
    return done.stdout
