"""The base of all faults. A kind registers its class under its name (course.py)."""

CLASSES = {}


def kinds(*names):
    """A class decorator: these kinds are made by it."""

    def register(made):
        CLASSES.update(dict.fromkeys(names, made))
        return made

    return register


class Fault:
    """begin() and end() are called once each, also when all is healed early. Between them the stage
    goes on. Neither may wait: what takes time runs beside, and is looked at in the end."""

    def __init__(self, stage, drawn):
        self.stage = stage
        self.drawn = drawn
        self.kind = drawn.kind
        self.whom = ""  # for the log: the victim was drawn by its rank

    def begin(self):
        """False when there is nothing that it could happen to now."""
        raise NotImplementedError

    def end(self):
        """Undoes it. Returns whether it had its effect, which has to be seen, not assumed."""
        raise NotImplementedError

    def between(self, chance, low, high):
        """A number drawn for this fault."""
        return low + self.drawn.chances[chance] * (high - low)


class OnOneNode(Fault):
    """One that a node can have once at a time. `claims` names what it takes of the node."""

    claims = ("process",)

    def begin(self):
        self.node = self.stage.free_victim(self.drawn, self.claims, self.suits)
        if self.node is None:
            return False
        self.whom = f"node {self.node.id}"
        if not self.strike():
            self.stage.release(self.node, self.claims)
            return False
        return True

    def end(self):
        try:
            return self.undo()
        finally:
            self.stage.release(self.node, self.claims)

    def suits(self, node):
        return node.running

    def strike(self):
        raise NotImplementedError

    def undo(self):
        raise NotImplementedError
