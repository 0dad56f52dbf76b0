"""Secrets that give themselves away: keys whose makers begin them with letters of their own.

Data, compiled once: the shapes that secret scanners know, Steward's own keys first. A key is looked for
only inside a long run of the characters that keys are made of, so that ordinary text costs one scan.
Every repetition is possessive: no text makes a pattern look twice at the same character.
"""

import re
from collections import defaultdict
from collections.abc import Iterator

SHORTEST_RUN = 18
_RUN = re.compile(rf"[A-Za-z0-9_+/=.~:-]{{{SHORTEST_RUN},}}+")

_HEX, _LOW, _UP, _ALNUM = "[0-9a-f]", "[a-z0-9]", "[A-Z0-9]", "[A-Za-z0-9]"
_URL, _B64 = "[A-Za-z0-9_-]", "[A-Za-z0-9+/]"
_UUID = rf"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"

# How a key begins, and what follows. Those that begin with a separator's help may stand behind a '/'.
_MARKED: tuple[tuple[str, str], ...] = (
    ("stw_", rf"{_URL}{{16,}}+"),  # Steward's own
    ("ops_eyJ", rf"{_B64}{{100,}}+"),  # 1Password
    ("A3-", rf"{_UP}{{6}}-{_UP}{{5,6}}(?:-{_UP}{{5}}){{3,4}}+"),
    ("aio_", rf"{_ALNUM}{{28}}"),  # Adafruit
    ("p8e-", rf"{_ALNUM}{{32}}"),  # Adobe
    ("sk-", rf"{_URL}{{12,}}+"),  # OpenAI, Anthropic, OpenRouter, DeepSeek
    ("sk_live_", rf"{_URL}{{12,}}+"), ("sk_test_", rf"{_URL}{{12,}}+"), ("sk_prod_", rf"{_URL}{{12,}}+"),
    ("rk_live_", rf"{_URL}{{12,}}+"), ("rk_test_", rf"{_URL}{{12,}}+"), ("rk_prod_", rf"{_URL}{{12,}}+"),
    ("whsec_", rf"{_B64}{{16,}}+"),  # Stripe
    ("sk.eyJ", rf"{_URL}{{20,}}+\.{_URL}{{16,}}+"),  # Mapbox
    ("CLOJARS_", rf"{_LOW}{{60}}"),
    ("v1.0-", rf"{_HEX}{{24}}-{_HEX}{{100,}}+"),  # Cloudflare
    ("dnkey-", rf"{_LOW}{{26}}-{_LOW}{{52}}"),
    ("dop_v1_", rf"{_HEX}{{40,}}+"), ("doo_v1_", rf"{_HEX}{{40,}}+"), ("dor_v1_", rf"{_HEX}{{40,}}+"),
    *((f"dp.{kind}.", rf"{_ALNUM}{{40,}}+") for kind in ("pt", "st", "ct", "sa", "scim", "audit")),  # Doppler
    ("duffel_live_", rf"{_URL}{{40,}}+"), ("duffel_test_", rf"{_URL}{{40,}}+"),
    ("dt0c01.", rf"{_UP}{{24}}\.{_UP}{{60,}}+"), ("dt0s01.", rf"{_UP}{{8,24}}+\.{_UP}{{60,}}+"),  # Dynatrace
    ("fo1_", rf"{_URL}{{40,}}+"), ("fm1_", rf"{_B64}{{60,}}+"), ("fm2_", rf"{_B64}{{60,}}+"),  # Fly
    ("fm1a_", rf"{_B64}{{60,}}+"), ("fm1r_", rf"{_B64}{{60,}}+"),
    ("FLWSECK_TEST-", rf"{_HEX}{{12,}}+"), ("FLWSECK-", rf"{_HEX}{{12,}}+"),
    ("fio-u-", rf"{_URL}{{60,}}+"),
    *((f"gh{kind}_", r"[A-Za-z0-9_]{16,}+") for kind in "pousr"),
    ("github_pat_", r"[A-Za-z0-9_]{16,}+"),
    *(
        (f"gl{kind}-", rf"{_URL}{{18,}}+")
        for kind in ("pat", "dt", "rt", "ptt", "cbt", "ft", "imt", "agent", "oas", "soat", "ffct", "wt")
    ),  # GitLab
    ("glsa_", rf"{_ALNUM}{{32}}_{_HEX}{{8}}"), ("glc_", rf"{_B64}{{32,}}+"),  # Grafana
    ("pat.", rf"{_URL}{{22}}\.{_HEX}{{24}}\.{_ALNUM}{{20}}"),  # Harness
    ("sat.", rf"{_URL}{{22}}\.{_HEX}{{24}}\.{_ALNUM}{{20}}"),
    ("HRKU-", rf"{_URL}{{36,}}+"),
    ("pat-na1-", _UUID), ("pat-eu1-", _UUID),  # HubSpot
    ("hf_", rf"{_ALNUM}{{20,}}+"), ("api_org_", rf"{_ALNUM}{{30,}}+"),
    ("ico-", rf"{_ALNUM}{{32}}"),
    ("lin_api_", rf"{_ALNUM}{{20,}}+"), ("lin_oauth_", rf"{_ALNUM}{{20,}}+"),
    ("sdk-", _UUID), ("mob-", _UUID),  # LaunchDarkly
    ("key-", rf"{_HEX}{{32}}"), ("pubkey-", rf"{_HEX}{{32}}"),  # Mailgun
    ("nfp_", rf"{_ALNUM}{{36,}}+"),  # Netlify
    ("NRAK-", rf"{_UP}{{27}}"), ("NRII-", rf"{_URL}{{32}}"), ("NRIQ-", rf"{_URL}{{32}}"),  # New Relic
    ("ntn_", rf"{_ALNUM}{{40,}}+"),  # Notion
    ("npm_", rf"{_ALNUM}{{30,}}+"),
    ("API-", rf"{_UP}{{26}}"),  # Octopus
    ("sha256~", rf"{_URL}{{43}}"),  # OpenShift
    ("pplx-", rf"{_ALNUM}{{40,}}+"), ("gsk_", rf"{_ALNUM}{{28,}}+"), ("xai-", rf"{_ALNUM}{{28,}}+"),
    *((f"pscale_{kind}_", r"[\w=.-]{32,}+") for kind in ("tkn", "pw", "oauth")),
    ("PMAK-", rf"{_HEX}{{24}}-{_HEX}{{34}}"), ("PMAT-", rf"{_UP}{{26}}"),  # Postman
    ("pnu_", rf"{_ALNUM}{{36}}"), ("pul-", rf"{_HEX}{{40}}"), ("rdme_", rf"{_LOW}{{70}}"),
    ("rubygems_", rf"{_HEX}{{48}}"),
    ("xkeysib-", rf"{_HEX}{{64}}-{_ALNUM}{{16}}"), ("xsmtpsib-", rf"{_HEX}{{64}}-{_ALNUM}{{16}}"),
    ("sntrys_", rf"{_B64}{{60,}}+=*+_{_B64}{{40,}}+"), ("sntryu_", rf"{_HEX}{{64}}"),
    ("shippo_live_", rf"{_HEX}{{40}}"), ("shippo_test_", rf"{_HEX}{{40}}"),
    *((f"shp{kind}_", rf"{_HEX}{{32}}") for kind in ("at", "ca", "pa", "ss")),
    *((f"xox{kind}-", rf"{_URL}{{10,}}+") for kind in "abceopsdr"),  # Slack
    ("xoxe.xox", rf"[bp]-{_URL}{{10,}}+"), ("xapp-", rf"{_URL}{{10,}}+"), ("xwfp-", rf"{_URL}{{10,}}+"),
    ("sqp_", rf"{_HEX}{{40}}"), ("squ_", rf"{_HEX}{{40}}"), ("sqa_", rf"{_HEX}{{40}}"),  # Sonar
    ("sgp_", rf"(?:local_)?+(?:{_HEX}{{16}}_)?+{_HEX}{{40}}"), ("slk_", rf"{_HEX}{{64}}"),  # Sourcegraph
    ("sq0csp-", rf"{_URL}{{40,}}+"), ("sq0atp-", rf"{_URL}{{22,}}+"), ("sq0idp-", rf"{_URL}{{22,}}+"),
    ("SG.", rf"{_URL}{{16,}}+(?:\.{_URL}{{8,}}+)?+"),  # SendGrid
    ("hvs.", rf"{_URL}{{20,}}+"), ("hvb.", rf"{_URL}{{20,}}+"), ("hvr.", rf"{_URL}{{20,}}+"),
    ("t1.", rf"{_URL}{{40,}}+=*+\.{_URL}{{60,}}+"),  # Yandex
    ("sbp_", rf"{_HEX}{{40}}"), ("sb_secret_", rf"{_URL}{{20,}}+"),  # Supabase
    ("tskey-", rf"(?:auth|api|client|scim|webhook)-{_ALNUM}{{8,20}}+-{_ALNUM}{{20,}}+"),
    ("figd_", rf"{_URL}{{36,}}+"), ("r8_", rf"{_ALNUM}{{30,}}+"),
    ("lsv2_pt_", rf"{_HEX}{{32}}_{_HEX}{{10}}"), ("lsv2_sk_", rf"{_HEX}{{32}}_{_HEX}{{10}}"),
    ("re_", rf"{_ALNUM}{{8}}_{_ALNUM}{{20,}}+"),  # Resend
    ("pcsk_", rf"{_ALNUM}{{4,8}}+_{_ALNUM}{{40,}}+"),
    ("tvly-", rf"(?:dev-|prod-)?+{_ALNUM}{{24,}}+"),
    ("nvapi-", rf"{_URL}{{50,}}+"), ("napi_", rf"{_LOW}{{48,}}+"), ("rnd_", rf"{_ALNUM}{{28,}}+"),
    ("csk-", rf"{_LOW}{{40,}}+"), ("tgp_v1_", rf"{_URL}{{40,}}+"),
    ("bkua_", rf"{_HEX}{{40}}"), ("CCIPAT_", rf"{_ALNUM}{{22}}_{_HEX}{{40}}"), ("CFPAT-", rf"{_URL}{{40,}}+"),
    ("sl.", rf"(?:u\.)?+{_URL}{{120,}}+"),  # Dropbox
    ("1//0", rf"{_URL}{{40,}}+"), ("ya29.", rf"{_URL}{{20,}}+"), ("GOCSPX-", rf"{_URL}{{20,}}+"),  # Google
    ("tfp_", rf"{_ALNUM}{{40,}}+_{_ALNUM}{{10,}}+"), ("jina_", rf"{_HEX}{{32}}{_URL}{{20,}}+"),
    ("e2b_", rf"{_HEX}{{40}}"),
    ("AstraCS:", rf"{_ALNUM}{{24}}:{_HEX}{{64}}"),
    ("pypi-", rf"AgE{_URL}{{16,}}+"), ("dckr_pat_", rf"{_URL}{{20,}}+"), ("dckr_oat_", rf"{_URL}{{20,}}+"),
    ("AGE-SECRET-KEY-1", rf"{_UP}{{20,}}+"),
    ("dapi", rf"{_HEX}{{32}}(?:-\d)?+"),  # Databricks
)  # fmt: skip

# Letters and digits only. In base64 such a beginning turns up by chance behind '+' and '/', so not there.
_UNMARKED: tuple[tuple[str, str], ...] = (
    ("pat", rf"{_ALNUM}{{14}}\.{_HEX}{{64}}"),  # Airtable
    ("LTAI", rf"{_ALNUM}{{16,20}}+(?!{_ALNUM})"),  # Alibaba
    ("AKCp", rf"{_ALNUM}{{60,}}+"),  # Artifactory
    ("ATATT3", rf"{_URL}{{60,}}+"), ("ATCTT3", rf"{_URL}{{60,}}+"), ("ATBB", rf"{_ALNUM}{{32}}(?!{_ALNUM})"),
    ("ATTA", rf"{_HEX}{{64}}{_ALNUM}{{8}}"),  # Trello
    *((f"A{kind}", rf"{_UP}{{12,}}+") for kind in ("KIA", "SIA", "BIA", "CCA", "ROA")),  # AWS
    ("ABSK", rf"{_B64}{{100,}}+"),
    ("4b1d", rf"{_ALNUM}{{38}}(?!{_ALNUM})"),  # ClickHouse
    ("EZAK", rf"{_ALNUM}{{54}}"), ("EZTK", rf"{_ALNUM}{{54}}"),
    ("GR1348941", rf"{_URL}{{20}}"),
    ("oy2", rf"{_LOW}{{43}}(?!{_ALNUM})"),  # NuGet
    ("EAAA", rf"{_URL}{{56,}}+"),  # Square
    ("SK", rf"{_HEX}{{32}}(?!{_ALNUM})"),  # Twilio
    ("AQVN", rf"{_URL}{{35,}}+"),  # Yandex
    ("AIza", rf"{_URL}{{30,}}+"),
    *((first, rf"{_ALNUM}{{23,27}}+\.{_URL}{{6}}\.{_URL}{{27,}}+") for first in "MNO"),  # Discord
)  # fmt: skip

# No letters of their own, but a mark inside.
_INSIDE = (
    rf"{_HEX}{{32}}-us\d{{1,2}}+(?!{_ALNUM})",  # Mailchimp
    rf"{_ALNUM}{{14}}\.atlasv1\.{_URL}{{60,}}+",  # Terraform
    r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,}+",  # Azure
    rf"\d{{6,12}}:AA{_URL}{{30,}}+",  # Telegram
)


def _choices(rules: tuple[tuple[str, str], ...]) -> str:
    """Grouped by the first letter, so that a place where none begins costs a handful of comparisons."""
    by_first: defaultdict[str, list[str]] = defaultdict(list)
    for begins, tail in rules:
        by_first[begins[0]].append(re.escape(begins[1:]) + tail)
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in by_first.items())


# A JSON Web Token: only at the start of a run, or else each piece of a long one would be read to its end.
_JWT = rf"(?<!{_URL})eyJ{_URL}{{10,}}+\.{_URL}{{4,}}+(?:\.{_URL}*+){{0,3}}+"

_TOKEN = re.compile(
    rf"(?<![A-Za-z0-9])(?:{_choices(_MARKED)}|{'|'.join(_INSIDE)})|(?<![A-Za-z0-9+/])(?:{_choices(_UNMARKED)})|{_JWT}"
)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for run in _RUN.finditer(text):
        for token in _TOKEN.finditer(text, run.start(), run.end()):
            yield token.span()


def holds_token(text: str) -> bool:
    return next(_spans(text), None) is not None


def hide_tokens(text: str, mask: str) -> str:
    """The text with every such key replaced; the same object when there is none."""
    parts: list[str] = []
    done = 0
    for start, end in _spans(text):
        parts += (text[done:start], mask)
        done = end
    return "".join((*parts, text[done:])) if parts else text
