"""OpenAI's protocol in front of the agents, so that programs made for it just work.

models.py       the agents, as models
completions.py  /v1/chat/completions
responses.py    /v1/responses
embeddings.py   /v1/embeddings
asking.py       what a request asks for, checked: done, or refused by the name of the parameter
answering.py    who answers: an agent's turn, or the model itself where the program brings tools or a form
wire.py         errors, usage and where an answer is cut
"""
