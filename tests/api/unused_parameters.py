"""tests/api/unused_parameters.py - parameters that a function ignores, or only checks."""

import ast
import re

# Decorators that take arguments of the function's signature themselves.
TAKEN_BY = {"takes_out_sharding": "out_sharding"}


def parameters(node):
    given = node.args
    starred = [a for a in (given.vararg, given.kwarg) if a]
    names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs, *starred)]
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


def body(node):
    """The statements of a function, without its docstring."""
    if isinstance(node, ast.Lambda):
        return [ast.Expr(node.body)]
    return node.body[1:] if ast.get_docstring(node) else node.body


def refuses_all(node):
    """Is a function left to subclasses, or does it raise whatever it is given?"""

    def refuses(statement):
        text = ast.unparse(statement)
        call = isinstance(statement, ast.Expr) and text.startswith("self._refuse(")
        return call or text == "..." or isinstance(statement, ast.Raise)

    return bool(body(node)) and all(map(refuses, body(node)))


def refused(test, name):
    """Does a condition let only one value of the parameter pass: its default?"""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(refused(each, name) for each in test.values)
    text = ast.unparse(test)
    return text in (name, f"not {name}", f"{name} is not None") or bool(
        re.fullmatch(rf"{name} (!=|is not|not in) ([\w.'\"-]+|\(None, [\w.'\"-]+\))", text)
    )


def calls_itself(call, function):
    """Does a call hand options on to itself, as a decorator without its function does?"""
    partial = isinstance(call, ast.Call) and ast.unparse(call.func) == "functools.partial"
    return partial and ast.unparse(call.args[0]) == getattr(function, "name", None)


def kind_of_read(name, reader, parents, function):
    """"use", "refuse", "check" or "drop": the purpose of a read of a parameter.."""
    child = reader
    while child is not function:
        parent = parents[child]
        if isinstance(reader.ctx, ast.Del) or calls_itself(parent, function):
            return "drop"
        if isinstance(parent, ast.Raise) and parents[parent] is function:
            return "use"
        if isinstance(parent, ast.Raise):
            return "raise"
        if isinstance(parent, ast.Assert):
            return "check"
        if isinstance(parent, ast.If) and isinstance(parent.body[-1], ast.Raise):
            if child in parent.body:
                return "check"
            if child is parent.test and not parent.orelse:
                return "refuse" if refused(parent.test, name) else "check"
        if isinstance(parent, ast.Expr) and isinstance(child, ast.Call):
            called = ast.unparse(child.func).rpartition(".")[2]
            if called.startswith("refuse"):
                return "refuse"
            alone = len(body(function)) == 1  # another name of that check
            return "check" if called.lstrip("_").startswith("check") and not alone else "use"
        if isinstance(parent, ast.stmt):
            block = parents.get(parent)
            ends = isinstance(block, ast.If) and isinstance(block.body[-1], ast.Raise)
            return "check" if ends and parent in block.body else "use"
        child = parent
    return "use"


def stored(target):
    """The names that an assignment binds."""
    names = (n for n in ast.walk(target) if isinstance(n, ast.Name))
    return [n for n in names if isinstance(n.ctx, ast.Store)]


def is_assigned_before(reader, parents, function):
    """Is the read name another value: one assigned in an earlier statement of the same block, or of
    a block around it?"""
    child = reader
    while child is not function:
        parent = parents[child]
        for block in ("body", "orelse", "finalbody"):
            block = getattr(parent, block, [])
            before = (
                block[: block.index(child)] if isinstance(block, list) and child in block else ()
            )
            for assignment in (s for s in before if isinstance(s, ast.Assign)):
                for target in assignment.targets:
                    if any(ast.unparse(n) == reader.id for n in stored(target)):
                        return True
        child = parent
    return False


def without_effect(node):
    """The parameters of a function that it ignores, or reads to check them only."""
    if refuses_all(node):
        return
    wanted = {"use", "refuse"}
    if getattr(node, "name", "").lstrip("_").startswith("check"):
        wanted |= {"check", "raise"}
    taken = {
        TAKEN_BY.get(ast.unparse(d).partition("(")[0]) for d in getattr(node, "decorator_list", ())
    }
    statements = body(node)
    parents = {c: n for s in statements for n in ast.walk(s) for c in ast.iter_child_nodes(n)}
    parents |= dict.fromkeys(statements, node)
    reads = {}
    for reader in parents:
        if isinstance(reader, ast.Name) and isinstance(reader.ctx, (ast.Load, ast.Del)):
            if is_assigned_before(reader, parents, node):
                continue
            kind = kind_of_read(reader.id, reader, parents, node)
            reads.setdefault(reader.id, set()).add(kind)
    for name in parameters(node):
        kinds = reads.get(name, set()) - {"drop"}
        if kinds == {"raise"}:  # errors name it
            continue
        if name not in taken and not kinds & wanted:
            yield name, "checked only" if kinds else "ignored"
