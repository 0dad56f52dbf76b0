"""The page's few signs, drawn inline: they take the colour of the words beside them."""

from markupsafe import Markup

PATHS = {
    "inbox": "M3 13h4l2 3h6l2-3h4M5 5h14l2 8v6H3v-6z",
    "chat": "M4 5h16v11H10l-5 4v-4H4z",
    "check": "M4 12l5 5L20 6",
    "book": "M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11",
    "pulse": "M3 12h4l3-7 4 14 3-7h4",
    "memory": "M12 4a4 4 0 0 1 4 4 4 4 0 0 1 1 7.5A3.5 3.5 0 0 1 12 19a3.5 3.5 0 0 1-5-3.5"
    "A4 4 0 0 1 8 8a4 4 0 0 1 4-4v15",
    "wrench": "M14 6a4 4 0 0 0 5 5l-9 9-4-4 9-9M14 6l3-3",
    "plug": "M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4",
    "shield": "M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z",
    "key": "M14 10a4 4 0 1 0-4 4h1l1.5-1.5H14V11h1.5L20 6.5V4h-2.5z",
    "more": "M5 12h.01M12 12h.01M19 12h.01",
    "search": "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM16 16l5 5",
    "plus": "M12 5v14M5 12h14",
    "close": "M6 6l12 12M18 6L6 18",
    "edit": "M4 20h4L20 8l-4-4L4 16z",
    "trash": "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
    "clock": "M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16zM12 8v4l3 2",
    "undo": "M8 5L4 9l4 4M4 9h10a5 5 0 0 1 0 10h-3",
    "stop": "M7 7h10v10H7z",
    "send": "M4 12l16-8-6 16-3-6z",
    "down": "M6 9l6 6 6-6",
    "out": "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
    "upload": "M12 16V4M7 9l5-5 5 5M4 16v4h16v-4",
    "download": "M12 4v12M7 11l5 5 5-5M4 20h16",
    "copy": "M9 9h11v11H9zM15 9V4H4v11h5",
    "repeat": "M4 11V9a3 3 0 0 1 3-3h12l-3-3M20 13v2a3 3 0 0 1-3 3H5l3 3",
    "sun": "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 2v2M12 20v2M4 12H2M22 12h-2"
    "M5 5l1.5 1.5M17.5 17.5L19 19M5 19l1.5-1.5M17.5 6.5L19 5",
    "bell": "M6 17V11a6 6 0 0 1 12 0v6l2 2H4zM10 21h4",
    "quote": "M5 17V11a4 4 0 0 1 4-4M14 17V11a4 4 0 0 1 4-4M5 12h4v5H5zM14 12h4v5h-4z",
    "file": "M6 3h8l5 5v13H6zM14 3v5h5",
    "leave": "M10 4H4v16h6M14 8l4 4-4 4M18 12H9",
}


def icon(name: str) -> Markup:
    return Markup('<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="{}"/></svg>').format(
        PATHS[name]
    )
