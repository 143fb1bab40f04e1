"""The exact minimum where rows are an orthogonal system (Appendix B): group by group, l against u.

A group is a vector v that rows repeat; groups are orthogonal to each other. v'β can be chosen for
each group by itself, and only its side of the threshold matters: accepting all rows of the group
loses l = Σ (c − y)₊, rejecting them u = Σ (y − c)₊.
"""

from __future__ import annotations

import numpy as np

from pipeline.core.kernels.rows import FloatArray

# Two unit vectors with a product below this are orthogonal.
TOLERANCE = 1e-12


class OrthogonalGroups:
    """l and u of each group, for as long as rows are an orthogonal system.

    Attributes:
        holds: whether all rows so far are.
        vectors: the groups' vectors, in the order they were first seen.
        lost: l of each group.
        missed: u of each group.
    """

    def __init__(self, n_columns: int) -> None:
        self.holds = True
        self.vectors = np.empty((0, n_columns))
        self.lost = np.empty(0)
        self.missed = np.empty(0)

    def add(self, X: FloatArray, worth: FloatArray) -> None:
        """Take in rows and their y − c."""
        for x, value in zip(X, worth, strict=True):
            if self.holds:
                self._add(x, float(value))

    def _add(self, x: FloatArray, value: float) -> None:
        same = np.flatnonzero((self.vectors == x).all(axis=1))
        if len(same) == 0:
            self._open(x)
            same = np.array([len(self.vectors) - 1])
        if self.holds:
            self.lost[same] += max(-value, 0.0)
            self.missed[same] += max(value, 0.0)

    def _open(self, x: FloatArray) -> None:
        """Begin a group, if it is orthogonal to all others."""
        length = np.linalg.norm(self.vectors, axis=1) * np.linalg.norm(x)
        self.holds = bool((np.abs(self.vectors @ x) <= TOLERANCE * length).all() and x.any())
        if self.holds:
            self.vectors = np.concatenate([self.vectors, x[None]])
            self.lost, self.missed = np.append(self.lost, 0.0), np.append(self.missed, 0.0)

    def solution(self, z: float) -> FloatArray:
        """Return the shortest β with v'β = z + 1 where l < u, and z − 1 elsewhere."""
        side = np.where(self.lost < self.missed, z + 1.0, z - 1.0)
        squares = np.einsum("ij,ij->i", self.vectors, self.vectors)
        beta: FloatArray = (side / squares) @ self.vectors
        return beta
