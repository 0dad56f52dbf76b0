"""Code that a person agreed to runs here, away from Steward's own files, secrets and processes.

`plan.py` and `probe.py` are Steward's side: what a run may see, and what this machine can hold. The other
modules are the supervisor's side. They use the standard library only, and little of it, because their
import is part of the time that each run takes.
"""
