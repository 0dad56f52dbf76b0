"""How a passage is put before a model: where it is said, then what."""


def with_headers(title: str, header_path: str, text: str) -> str:
    names = [name for name in dict.fromkeys([title, *header_path.split(" > ")]) if name]
    if not names or text.startswith(names[0]):
        return text
    return f"{' > '.join(names)}\n{text}"
