"""Building, splitting, searching and replacing text."""


def work():
    words = [f"word{i * 7919 % 1000:03d}" for i in range(8_000)]
    text = " ".join(words)
    found = 0
    for word in words[:400]:
        found += text.count(word)
    pieces = [piece.upper().replace("WORD", "w").strip() for piece in text.split(" ")]
    return found + len(",".join(pieces)) + len(text.encode().hex())
