"""Floating point: five bodies that attract each other."""


def work():
    bodies = [
        [float(i), i * 0.7 - 1.0, i * 0.3, 0.01 * i, 0.02, -0.01 * i, 1.0 / (i + 1)]
        for i in range(5)
    ]
    for _ in range(1_000):
        for i, a in enumerate(bodies):
            for b in bodies[i + 1 :]:
                dx, dy, dz = a[0] - b[0], a[1] - b[1], a[2] - b[2]
                pull = 0.001 / (dx * dx + dy * dy + dz * dz + 0.01) ** 1.5
                a[3] -= dx * b[6] * pull
                a[4] -= dy * b[6] * pull
                a[5] -= dz * b[6] * pull
                b[3] += dx * a[6] * pull
                b[4] += dy * a[6] * pull
                b[5] += dz * a[6] * pull
        for body in bodies:
            body[0] += 0.001 * body[3]
            body[1] += 0.001 * body[4]
            body[2] += 0.001 * body[5]
    return bodies[0][0]
