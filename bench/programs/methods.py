"""Objects: attributes, methods, inheritance."""


class Shape:
    def __init__(self, size):
        self.size = size
        self.calls = 0

    def area(self):
        self.calls += 1
        return self.size * self.size

    def grow(self, by):
        self.size = (self.size + by) % 97
        return self


class Circle(Shape):
    def area(self):
        return super().area() * 3


def work():
    shapes = [Circle(i) if i % 2 else Shape(i) for i in range(100)]
    total = 0
    for turn in range(300):
        for shape in shapes:
            total += shape.grow(turn).area()
    return total
