"""A PDF and a DOCX, made for tests."""

import io
from collections.abc import Sequence

from docx import Document


def pdf_bytes(pages: Sequence[Sequence[str]]) -> bytes:
    """A PDF with a line of text for each string."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    kids: list[int] = []
    for lines in pages:
        content = "BT " + " ".join(
            f"/F1 {20 if n == 0 else 11} Tf 1 0 0 1 60 {760 - 30 * n} Tm ({line}) Tj"
            for n, line in enumerate(lines)
        )
        objects.append(f"<< /Length {len(content) + 3} >>\nstream\n{content} ET\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        kids.append(len(objects))
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] /Count {len(kids)} >>"
    out = b"%PDF-1.4\n"
    offsets: list[int] = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    head = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer << /Size {size} /Root 1 0 R >>\n"
    return out + f"{head}startxref\n{len(out)}\n%%EOF".encode()


def docx_bytes() -> bytes:
    document = Document()
    document.add_heading("Swarms", 1)
    document.add_paragraph("A swarm leaves with the old queen in May.")
    table = document.add_table(2, 2)
    for row, cells in enumerate((("Month", "Task"), ("May", "Swarm control"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def locked_pdf_bytes() -> bytes:
    """A PDF that opens with a password only: nobody's digests fit the empty one."""
    plain = pdf_bytes([["Secret plans"]]).decode("latin-1")
    lock = f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'ab' * 32}> /U <{'cd' * 32}> >>"
    return plain.replace("/Root", f"{lock} /ID [<{'01' * 16}> <{'01' * 16}>] /Root").encode("latin-1")
