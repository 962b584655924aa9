"""Kernels as they are written on the command line and in requests: as in Python."""

from __future__ import annotations

import ast
from typing import Any

from afterwit.errors import AfterwitError, invalid
from afterwit.kernels.all_products import all_products
from afterwit.kernels.gaussian import gaussian
from afterwit.kernels.linear import linear
from afterwit.kernels.polynomial import polynomial

#: The kernels for rows of numbers.
KERNELS: dict[str, Any] = {
    "linear": linear,
    "polynomial": polynomial,
    "all_products": all_products,
    "gaussian": gaussian,
}


def written_kernel(text: str, parameter: str = "kernel") -> Any:
    """A kernel written as in Python: gaussian(width=2) + 0.5 * linear(). Nothing else is evaluated."""

    def made(node: ast.AST) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -made(node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult)):
            left, right = made(node.left), made(node.right)
            return left + right if isinstance(node.op, ast.Add) else left * right
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KERNELS:
            options = {keyword.arg: made(keyword.value) for keyword in node.keywords if keyword.arg is not None}
            return KERNELS[node.func.id](*map(made, node.args), **options)
        raise ValueError

    try:
        return made(ast.parse(text, mode="eval").body)
    except AfterwitError:
        raise
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        allowed = f"an expression of {', '.join(f'{name}(...)' for name in KERNELS)}, numbers, + and *"
        raise invalid(parameter, allowed, text) from None
