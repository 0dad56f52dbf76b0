"""The knowledge base: find passages, see what is there, drop documents in."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

import streamlit as st

from steward.surfaces.web import look, work
from steward.surfaces.web.ingest import ingest
from steward.surfaces.web.passages import lightly_set, marked
from steward.surfaces.web.session import api, may, plainly, say
from steward.surfaces.web.work import Job

Collection = Mapping[str, Any]
INGEST = "ingest"
DROP = "drop:"
MARKDOWN = (".md", ".markdown")
KINDS = [
    "md",
    "txt",
    "html",
    "htm",
    "pdf",
    "docx",
    "csv",
    "json",
    "py",
    "js",
    "ts",
    "rst",
    "tex",
    "yaml",
    "toml",
]


def show() -> None:
    st.title("Knowledge")
    with plainly():
        if dropped := work.ended(DROP):
            for name, job in dropped:
                _deleted(name, job)
            st.rerun()
        collections = api().get("/v1/knowledge/collections")["items"]
        projects = api().get("/v1/knowledge/projects")["items"]
        search, add, manage = st.tabs(["Search", "Add documents", "Collections and projects"])
        with search, plainly():
            _search(collections, projects)
        with add, plainly():
            _add(collections)
        with manage, plainly():
            _manage(collections, projects)


def _search(collections: Sequence[Collection], projects: Sequence[Mapping[str, Any]]) -> None:
    if not any(collection["documents"] for collection in collections):
        look.empty(
            "There is nothing to search yet",
            "Drop a document under “Add documents”: PDF, Word, HTML, Markdown, CSV and code are read.",
            icon=":material/menu_book:",
        )
        return
    query = st.text_input(
        "Search",
        type="search",
        placeholder="How is a task deleted?",
        key="kb-query",
        label_visibility="collapsed",
    )
    places = {"Everywhere": None} | {f"Project: {item['name']}": item for item in projects}
    places |= {item["name"]: item for item in collections}
    where = st.selectbox("Where", list(places), key="kb-place", width=240, label_visibility="collapsed")
    place = places[where]
    if not query or not query.strip():
        st.caption(
            "Ask in your own words. Passages come with the document and the headings they stand under."
        )
        return
    arguments: dict[str, Any] = {"query": query.strip(), "top_k": 10}
    if place is not None:
        names = place.get("default_collections") or place.get("collections") or [place["name"]]
        arguments["collections"] = ",".join(names)
    result = api().call("query_knowledge_base", **arguments)
    if not result["success"]:
        st.error(look.plain(result["error"]))
        return
    _results(query, result["data"])


def _results(query: str, data: Mapping[str, Any]) -> None:
    advice = data["query_refinement"]
    if not data["results"]:
        look.empty("Nothing relevant was found", advice["message"], icon=":material/search_off:")
    elif advice["status"] != "optimal":
        st.caption(look.plain(advice["message"]))
    if advice["suggestions"]:
        st.caption("Try: " + " · ".join(look.plain(item) for item in advice["suggestions"]))
    for hit in data["results"]:
        about = hit["metadata"]
        page = f" · page {about['page']}" if about.get("page") is not None else ""
        with st.container(border=True):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"**{look.plain(about['document_title'])}**", width="content")
                st.badge(look.plain(hit["relevance_label"]), color="green")
            if hit["header_path"]:
                st.caption(f":material/subdirectory_arrow_right: {look.plain(hit['header_path'])}")
            text = marked(hit["content"], query)
            if hit["source_document"].endswith(MARKDOWN):
                text = lightly_set(text)
            st.html(f'<div class="passage">{text}</div>')
            st.html(
                f'<div class="faint">{escape(look.place(hit["source_document"]))} in '
                f"{escape(about['collection'])}{escape(page)} · relevance {hit['relevance_score']:.2f}</div>"
            )


def _add(collections: Sequence[Collection]) -> None:
    if not may("use"):
        st.caption("Your key may not add documents: it needs the role `use`.")
        return
    if ended := work.take(INGEST):
        _finish(ended)
    if (reading := work.find(INGEST)) is not None:
        work.watch(reading, _progress)
        return
    names = [collection["name"] for collection in collections]
    into = st.selectbox(
        "Collection",
        names,
        index=0 if names else None,
        accept_new_options=True,
        placeholder="Name a new collection",
        help="Choose one, or type a new name.",
        key="kb-into",
    )
    # A new key after each round, so that the files just added do not wait to be added again.
    files = st.file_uploader(
        "Drop documents here",
        type=KINDS,
        accept_multiple_files=True,
        key=f"kb-files-{st.session_state.get('kb-round', 0)}",
    )
    if (
        st.button("Add them", type="primary", icon=":material/upload:", disabled=not (files and into))
        and files
    ):
        _ingest(str(into), [(file.name, file.getvalue()) for file in files], new=into not in names)
        st.rerun()
    _report()


def _ingest(collection: str, files: Sequence[tuple[str, bytes]], *, new: bool) -> None:
    client = api()  # here, because the thread has no visit to take it from
    work.start(INGEST, lambda job: ingest(client, job, collection, files=files, new=new))
    st.session_state["kb-round"] = st.session_state.get("kb-round", 0) + 1
    st.session_state["kb-report"] = (collection, len(files))


def _progress(job: Job) -> None:
    note = job.notes[-1] if job.notes else "Beginning"
    st.progress(job.share, text=look.plain(note))
    st.caption("You can go on elsewhere; this continues.")


def _finish(job: Job) -> None:
    collection, count = st.session_state.pop("kb-report")
    failed: list[str] = [job.error.explain()] if job.error else job.result
    added = 0 if job.error else count - len(failed)
    st.session_state["kb-failed"] = failed
    if added:
        say(f"{added} of {count} documents are in {collection}. Search finds them now.")
    st.rerun()


def _report() -> None:
    for problem in st.session_state.get("kb-failed") or ():
        st.error(look.plain(problem), icon=":material/error:")


def _manage(collections: Sequence[Collection], projects: Sequence[Mapping[str, Any]]) -> None:
    st.subheader("Collections")
    if not collections:
        look.empty("No collections yet", "Adding a document makes one.", icon=":material/folder:")
    for item in collections:
        _collection(item)
    st.subheader("Projects")
    if not projects:
        st.caption("A project groups collections, so that a search can be kept to them.")
    for project in projects:
        linked = ", ".join(project["collections"]) or "nothing yet"
        st.markdown(f"**{look.plain(project['name'])}**: {look.plain(linked)}")
    if may("use"):
        _project_form([collection["name"] for collection in collections])


def _collection(item: Collection) -> None:
    name = item["name"]
    with st.container(border=True, key=f"collection-{name}"):
        with st.container(horizontal=True, vertical_alignment="center", wrap=False):
            st.markdown(f"**{look.plain(name)}**", width="stretch")
            if (deleting := work.find(f"{DROP}{name}")) is not None:
                work.watch(deleting, lambda _: st.caption("Deleting…", width="content"))
            elif may("approve") and st.button(
                "", icon=":material/delete:", help="Delete", type="tertiary", key=f"drop-{name}"
            ):
                _delete(item)
        st.caption(
            f"{look.counted(item['documents'], 'document')} · {look.counted(item['chunks'], 'passage')} · "
            f"{look.kilobytes(item['size_bytes'])}"
        )
        if item["documents"] and st.toggle("Show its documents", key=f"open-{name}"):
            _documents(name)


def _documents(collection: str) -> None:
    found = api().get(f"/v1/knowledge/collections/{quote(collection)}/documents", limit=200)["items"]
    look.table(
        ("Title", "Passages", "Size", "Added", "Source"),
        [
            (
                item["title"],
                str(item["chunks"]),
                look.kilobytes(item["size_bytes"]),
                look.ago(item["ingested_at"]),
                look.place(item["source"]),
            )
            for item in found
        ],
    )


def _project_form(names: Sequence[str]) -> None:
    with st.form("new-project", clear_on_submit=True):
        name = st.text_input("New project")
        chosen = st.multiselect("Its collections", names)
        if st.form_submit_button("Make it", icon=":material/create_new_folder:") and name:
            made = api().call(
                "manage_projects", action="create", project_name=name, collections=",".join(chosen) or None
            )
            if made["success"]:
                say(f"Made the project {name}.")
                st.rerun()
            st.error(look.plain(made["error"]))


@st.dialog("Delete this collection?", icon=":material/delete:")
def _delete(collection: Collection) -> None:
    name = collection["name"]
    st.markdown(f"**{look.plain(name)}** goes with its {collection['documents']} documents, for good.")
    st.text_input("Type its name to confirm", key="drop-typed")
    if st.button("Delete it", type="primary", on_click=_delete_now, args=(name,)):
        st.rerun()


def _delete_now(name: str) -> None:
    if st.session_state["drop-typed"] != name:
        say(f"Nothing was deleted. Type {name} to confirm.", icon=":material/keyboard:")
        return
    client = api()

    def run(_: Job) -> dict[str, Any]:
        return client.approved(client.call("manage_collections", action="delete", collection_name=name))

    work.start(f"{DROP}{name}", run)


def _deleted(name: str, job: Job) -> None:
    problem = job.error.explain() if job.error else job.result["error"]
    if problem:
        say(problem, icon=":material/error:")
    else:
        say(f"Deleted the collection {name}.", icon=":material/delete:")
