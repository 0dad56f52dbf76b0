"""The page's script: Streamlit runs it for each visit and each thing a visitor does.

Owns the frame: who may come in, which pages there are. What a page shows is in views/.
"""

import streamlit as st

from steward.surfaces.web import look, session
from steward.surfaces.web.views import activity, approvals, chat, knowledge, tasks, tools

PAGES = {
    "chat": (chat.show, "Chat", ":material/forum:"),
    "tasks": (tasks.show, "Tasks", ":material/checklist:"),
    "knowledge": (knowledge.show, "Knowledge", ":material/menu_book:"),
    "approvals": (approvals.show, "Approvals", ":material/how_to_reg:"),
    "tools": (tools.show, "Tools and agents", ":material/construction:"),
    "activity": (activity.show, "Activity", ":material/monitoring:"),
}


def main() -> None:
    st.set_page_config(page_title="Steward", page_icon=look.PICTURES / "icon.svg", layout="wide")
    st.logo(look.PICTURES / "steward.svg", icon_image=look.PICTURES / "icon.svg", size="large")
    st.html(look.CSS)
    pages = {
        path: st.Page(show, title=title, icon=icon, url_path=path, default=path == next(iter(PAGES)))
        for path, (show, title, icon) in PAGES.items()
    }
    if not session.sign_in():
        st.navigation(list(pages.values()), position="hidden")  # keeps the page that was asked for
        return
    session.remember_pages(pages)
    chosen = st.navigation(list(pages.values()))
    session.speak()
    chosen.run()
    with st.sidebar:
        who = session.me()
        st.caption(f"Signed in: {look.plain(who['name'])} ({who['role']})")
        st.button("Leave", icon=":material/logout:", on_click=session.sign_out, type="tertiary")


main()
