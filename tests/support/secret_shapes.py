"""Made-up secrets in the shapes people leave them lying around: (where it stands, what must not be seen).

Put together from pieces, so that nothing in this file looks like a real one to a scanner.
"""

from typing import Any

_HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_B64 = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY0"
_JWT = ".".join(("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"))
_PEM = "\n".join(
    ("-----BEGIN RSA PRIVATE" + " KEY-----", "MIIEpAIBAAKCAQEAx7", "-----END RSA PRIVATE" + " KEY-----")
)

IN_TEXT: tuple[tuple[str, str], ...] = (
    ("Authorization: Bearer " + _HEX, _HEX),
    ("curl -H 'authorization: bearer abc.def-123' https://x", "abc.def-123"),
    ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA"),
    ("sent Basic dXNlcjpwYXNzd29yZA== along", "dXNlcjpwYXNzd29yZA"),
    ("Authorization: token " + _HEX, _HEX),
    ("Cookie: session=abc123def; theme=dark", "abc123def"),
    ("Set-Cookie: sid=s%3Aq1w2e3r4; HttpOnly", "q1w2e3r4"),
    ("key sk-" + "proj-AbCdEf0123456789AbCdEf", "AbCdEf0123456789"),
    ("sk-" + "ant-api03-AbCdEf0123456789_xyz", "AbCdEf0123456789"),
    ("sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc", "4eC39HqLyjWDarjtT1zdp7dc"),
    ("rk_" + "test_4eC39HqLyjWDarjtT1zdp7dc", "4eC39HqLyjWDarjtT1zdp7dc"),
    ("whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
    ("push with ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F292c6912E7710c838347Ae178B4a"),
    ("gho_" + "16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F292c6912"),
    ("ghs_" + "16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F292c6912"),
    ("github_pat_" + "11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz", "11ABCDEFG0abcdefghijkl"),
    ("glpat-" + "xxxxYYYY1111zzzz2222", "xxxxYYYY1111zzzz2222"),
    ("AKIA" + "IOSFODNN7EXAMPLE is the id", "IOSFODNN7EXAMPLE"),
    ("ASIA" + "IOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE"),
    ("aws_secret_access_key = " + _B64, _B64),
    ("xoxb-" + "123456789012-abcdefABCDEF", "abcdefABCDEF"),
    ("xapp-" + "1-A0123-456-abcdef", "abcdef"),
    ("https://hooks.slack.com/services/" + "T000/B000/XXXXYYYYZZZZ", "XXXXYYYYZZZZ"),
    ("https://discord.com/api/webhooks/" + "1234567890/AbC_dEf-GhI", "AbC_dEf-GhI"),
    ("AIza" + "SyA-1234567890abcdefghijklmnopqrstu", "1234567890abcdefghijklmnopqrstu"),
    ("ya29." + "a0AfH6SMBx1234567890abcdef", "a0AfH6SMBx1234567890abcdef"),
    ("npm_" + "abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghijklmnopqrstuvwxyz"),
    ("pypi-" + "AgEIcHlwaS5vcmcCJDEyMzQ1Njc4", "AgEIcHlwaS5vcmcCJDEyMzQ1Njc4"),
    ("hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz", "AbCdEfGhIjKlMnOpQrStUvWxYz"),
    ("gsk_" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345", "AbCdEfGhIjKlMnOp"),
    ("xai-" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345", "AbCdEfGhIjKlMnOp"),
    ("dckr_pat_" + "AbCdEfGhIjKlMnOpQrStUvWxYz0", "AbCdEfGhIjKlMnOp"),
    ("dop_v1_" + _HEX, _HEX),
    ("hvs." + "CAESIJ1234567890abcdefgh", "CAESIJ1234567890abcdefgh"),
    ("SG." + "ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf", "ngeVfQFYQlKU0ufo8x5d1A"),
    ("AGE-SECRET-KEY-" + "1QQPQZRFR7ZQ5WCV3XHZ8K3M2N4P5Q6R7S8T9", "QQPQZRFR7ZQ5WCV3XHZ8K3"),
    ("123456789:" + "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawxyz", "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"),
    ("token is " + _JWT, _JWT.split(".")[2]),
    (f"found {_JWT} in the log", _JWT.split(".")[1]),
    (f"key:\n{_PEM}\nend", "MIIEpAIBAAKCAQEAx7"),
    (_PEM[:60], "MIIEpAIBAAKCAQEAx7"),  # cut off before its end
    ("postgresql://steward:s3cr3tpw@db.example:5432/steward", "s3cr3tpw"),
    ("postgres://u:p@ss/w0rd@db.example/x", "w0rd"),
    ("redis://:s3cr3tpw@cache:6379/0", "s3cr3tpw"),
    ("https://x-access-token-0123456789@github.com/a/b.git", "0123456789"),
    ("amqp://guest:gu3stpass@mq/ and mongodb+srv://root:r00tpass@c", "r00tpass"),
    ("Server=db;User Id=sa;Password=Sup3rS3cret;Encrypt=yes", "Sup3rS3cret"),
    ("DefaultEndpointsProtocol=https;AccountName=a;AccountKey=" + _B64 + "==", _B64),
    ("Endpoint=sb://x/;SharedAccessKey=" + _B64 + "=", _B64),
    ("https://a.blob.example/c?sv=2024&sig=" + "abc%2Bdef%3D123&se=1", "abc%2Bdef"),
    ("https://api.example/v1?access_token=abcdef123456&x=1", "abcdef123456"),
    ("https://api.example/v1?api_key=abcdef123456", "abcdef123456"),
    ("password=hunter22", "hunter22"),
    ("PASSWORD: hunter22", "hunter22"),
    ("db_password => 'hun ter 22'", "hun ter 22"),
    ('{"password": "hunter22 and more"}', "hunter22 and more"),
    ('{\\"client_secret\\": \\"hunter22\\"}', "hunter22"),
    ('config: {"api-key": "a\\"b-hunter22"}', "hunter22"),
    ("my password is hunter22, remember it", "hunter22"),
    ("mysql --password hunter22 -h db", "hunter22"),
    ("run --api-key=hunter22", "hunter22"),
    ("export OPENAI_API_KEY=hunter2222", "hunter2222"),
    ("STRIPE_SECRET: hunter2222", "hunter2222"),
    ("PIN: 4711", "4711"),
    ("the key " + _HEX, _HEX),
    ("passphrase: correct-horse-battery", "correct-horse-battery"),
    ("İstanbul password=hunter22", "hunter22"),  # lower-casing moves characters here
)

IN_VALUES: tuple[tuple[Any, str], ...] = (
    ({"password": "hunter22"}, "hunter22"),
    ({"Password": "hunter22"}, "hunter22"),
    ({"DB-PASSWORD": "hunter22"}, "hunter22"),
    ({"dbPassword": "hunter22"}, "hunter22"),
    ({"user": {"passwd": 12345678}}, "12345678"),
    ({"token": "plain-words-only"}, "plain-words-only"),
    ({"accessToken": "plain"}, "plain"),
    ({"refresh_token": "plain"}, "plain"),
    ({"tokens": ["plain1", "plain2"]}, "plain2"),
    ({"apiKey": "plain"}, "plain"),
    ({"API_KEY": "plain"}, "plain"),
    ({"x-api-key": "plain"}, "plain"),
    ({"Ocp-Apim-Subscription-Key": "plain"}, "plain"),
    ({"Authorization": "plain"}, "plain"),
    ({"Proxy-Authorization": "plain"}, "plain"),
    ({"cookies": {"a": "plain"}}, "plain"),
    ({"Set-Cookie": "plain"}, "plain"),
    ({"secret": "plain"}, "plain"),
    ({"clientSecret": "plain"}, "plain"),
    ({"privateKey": "plain"}, "plain"),
    ({"ssh_key": "plain"}, "plain"),
    ({"credentials": ["plain", {"a": "plain"}]}, "plain"),
    ({"auth": {"user": "ann", "pass": "plain"}}, "plain"),
    ({"connection_string": "plain"}, "plain"),
    ({"session_id": "plain"}, "plain"),
    ({"otp": "123456"}, "123456"),
    ({"pin": 4711}, "4711"),
    ({"deep": [{"er": ({"pwd": "plain"},)}]}, "plain"),
    ([{"name": "Authorization", "value": "plain"}], "plain"),
    ([{"key": "OPENAI_API_KEY", "value": "plain"}], "plain"),
    ([["X-Api-Key", "plain"]], "plain"),
    (["mysql", "--password", "plain"], "plain"),
    ({"env": {"GITHUB_TOKEN": "plain"}}, "plain"),
    ({"ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a": 1}, "16C7e42F292c6912E7710c838347Ae178B4a"),
)

# Those that cannot turn up by chance in an id, a time or another sample; for looking through whole files.
UNMISTAKABLE = sorted({secret for _, secret in (*IN_TEXT, *IN_VALUES) if len(secret) >= 8})
